// What customers did, for the marketing department. Nobody minds if some of it is lost.
#include "Vending.h"

int main(int argc, char** argv) { return vending::keepBook({argc, argv}, vending::kClicks, "push"); }
