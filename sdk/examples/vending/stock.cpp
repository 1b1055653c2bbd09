// The store room: one cup less for each payment. Several may run; they share the work.
#include "Vending.h"

int main(int argc, char** argv) { return vending::keepBook({argc, argv}, vending::kPaid, "stock"); }
