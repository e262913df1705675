// SPDX-License-Identifier: Apache-2.0
package wh.torture;

import java.util.Arrays;
import java.util.List;

/** The torture workloads: main class, and the table of programs. */
public final class Main {
  private static final int USAGE = 2;

  private static final class Row {
    final String name;
    final String what;
    final Program program;

    Row(String name, String what, Program program) {
      this.name = name;
      this.what = what;
      this.program = program;
    }
  }

  private static final Row[] TABLE = {
    new Row("recursion", "deep recursion, into the guard pages and back", Recursion::new),
    new Row("exceptions", "exceptions through many frames", Exceptions::new),
    new Row("deopt", "deoptimisation storms: broken assumptions, traps", Deopt::new),
    new Row("osr", "loops replaced on the stack, in ever new methods", Osr::new),
    new Row("classes", "class-loader and hidden-class churn, with unloading", Classes::new),
    new Row("redefine", "redefinition of classes with active methods", Redefine::new),
    new Row("jni", "calls up from native code and down, critical sections", Jni::new),
    new Row("monitors", "contended and inflated monitors, wait and notify", Monitors::new),
    new Row("threads", "threads that start and exit by the dozen", Threads::new),
    new Row("virtual", "virtual threads that yield, park and pin", Virtual::new),
    new Row("gc", "allocation pressure, storms of references", Gc::new),
    new Row("handles", "method handles, call sites, lambdas, concatenation", Handles::new),
    new Row("reflection", "reflective calls, accessors, proxies", Reflection::new),
    new Row("stubs", "stubs and intrinsics: copies, hashes, ciphers, numbers", Stubs::new),
    new Row("dumps", "heap and thread dumps", Dumps::new),
    new Row("recordings", "recordings of JFR that start, end and are read", Recordings::new),
    new Row("hugeframes", "hundreds of locals and arguments", HugeFrames::new),
    new Row("interfaces", "megamorphic virtual and interface calls", Interfaces::new),
    new Row("mixed", "a round of each computing kind, in turn", Mixed::new),
    new Row("shadow", "random call trees that keep a shadow stack", ShadowProgram::new),
    new Row("shapes", "threads with one known stack for life", Shapes::new)
  };

  private Main() {}

  public static void main(String[] arguments) throws InterruptedException {
    List<String> list = Arrays.asList(arguments);
    if (list.equals(Arrays.asList("--list"))) {
      for (Row row : TABLE) System.out.println(row.name + '\t' + row.what);
      return;
    }
    if (list.isEmpty() || list.get(0).startsWith("-")) {
      refuse("a program must come first; usage: " + Options.USAGE);
      return;
    }
    try {
      Options options = Options.parse(list);
      for (Row row : TABLE) {
        // Exits from here: threads of a failed run may hang.
        if (row.name.equals(options.program)) System.exit(new Run(options, row.program).play());
      }
      refuse("has no program \"" + options.program + "\": see --list");
    } catch (Options.Bad e) {
      refuse("does not understand its options: " + e.getMessage());
    }
  }

  private static void refuse(String sentence) {
    System.err.println("torture " + sentence + ".");
    System.exit(USAGE);
  }
}
