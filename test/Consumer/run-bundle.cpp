// reprise: a program outside the tree that runs a bundle with the runtime alone
#include "steps.h"

int main(int argc, char **argv) {
  return argc == 2 ? runSteps(reprise::runtime::loadExecutable(argv[1], 1)) : 2;
}
