// The door gateway: opens one flap for each payment.
#include "Vending.h"

int main(int argc, char** argv) { return vending::keepBook({argc, argv}, vending::kPaid, "door"); }
