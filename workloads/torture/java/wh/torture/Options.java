// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.util.List;

/** The command line. */
final class Options {
  static final String USAGE =
      "Main --list | PROGRAM [--seconds N (0: until killed)] [--threads N] [--scale N] [--seed N]"
          + " [--rounds N (of each thread, at the most)]";

  final String program;
  final long seconds;
  final int threads;
  final int scale;
  final long seed;
  final long rounds;
  final boolean broken;

  private Options(String program, long seconds, int threads, int scale, long seed, long rounds,
      boolean broken) {
    this.program = program;
    this.seconds = seconds;
    this.threads = threads;
    this.scale = scale;
    this.seed = seed;
    this.rounds = rounds;
    this.broken = broken;
  }

  static final class Bad extends Exception {
    private static final long serialVersionUID = 1;

    Bad(String message) {
      super(message);
    }
  }

  static Options parse(List<String> arguments) throws Bad {
    String program = arguments.get(0);
    long seconds = 10;
    int threads = 2;
    int scale = 1;
    long seed = 1;
    long rounds = Long.MAX_VALUE;
    boolean broken = false;
    for (int i = 1; i < arguments.size(); i++) {
      String option = arguments.get(i);
      if (option.equals("--break")) { // for tests: plants a wrong result
        broken = true;
        continue;
      }
      if (i + 1 == arguments.size()) throw new Bad(option + " needs a value, or is not an option");
      String value = arguments.get(++i);
      switch (option) {
        case "--seconds":
          seconds = number(option, value, 0, 1_000_000_000);
          break;
        case "--threads":
          threads = (int) number(option, value, 1, 1000);
          break;
        case "--scale":
          scale = (int) number(option, value, 1, 1000);
          break;
        case "--seed":
          seed = number(option, value, Long.MIN_VALUE, Long.MAX_VALUE);
          break;
        case "--rounds":
          rounds = number(option, value, 1, Long.MAX_VALUE);
          break;
        default:
          throw new Bad("there is no option " + option);
      }
    }
    return new Options(program, seconds, threads, scale, seed, rounds, broken);
  }

  private static long number(String option, String value, long least, long most) throws Bad {
    try {
      long number = Long.parseLong(value);
      if (number >= least && number <= most) return number;
    } catch (NumberFormatException e) {
      // reported below
    }
    throw new Bad(
        option + " must be a whole number from " + least + " to " + most + ", not \"" + value + '"');
  }
}
