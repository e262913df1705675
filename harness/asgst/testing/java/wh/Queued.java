// SPDX-License-Identifier: Apache-2.0
package wh;

import java.lang.reflect.AccessibleObject;
import java.util.List;

/** Methods that the tests of queues run; most call Api.probe() twice: see the tests. */
final class Queued {
  static volatile int sink;

  private Queued() {}

  static void interpLeaf() {
    Api.probe();
  }

  static void interpTwice() {
    Api.probe();
    Api.probe();
  }

  static void interpLeafThenProbe() {
    interpLeaf();
    Api.probe();
  }

  static void interpLeafFromTwoPlaces() {
    interpLeaf();
    interpLeaf();
  }

  static void interpLeafFromOnePlace() {
    for (int i = 0; i < 2; i++) {
      interpLeaf();
    }
  }

  static void interpDeepThenProbe() {
    interpDeep(12);
    Api.probe();
  }

  private static void interpDeep(int frames) {
    if (frames == 0) {
      Api.probe();
    } else {
      interpDeep(frames - 1);
    }
  }

  static void interpEightFromTwoPlaces() {
    interpDeep(7);
    interpDeep(7);
  }

  static void interpEight() {
    interpDeep(6);
  }

  /** Interpreted at the first of 200 probes; C2 has compiled osrLoop from the loop on by the last. */
  static void interpOsr() {
    osrLoop();
  }

  private static void osrLoop() {
    for (int i = 0; i < 200; i++) {
      Api.probe();
      for (int k = 0; k < 1_000; k++) {
        sink++;
      }
    }
  }

  /** As interpOsr, with one more word on the stack: compiled frames are aligned. */
  static void interpOsrDeeper() {
    sink = sink + osrValue();
  }

  private static int osrValue() {
    for (int i = 0; i < 200; i++) {
      Api.probe();
      for (int k = 0; k < 1_000; k++) {
        sink++;
      }
    }
    return 1;
  }

  /** c2Leaf is called from one method that is inlined at two places; the last two probes count. */
  static void warmC2FromTwoPlaces() {
    for (int i = 0; i < 20_001; i++) {
      c2FromTwoPlaces();
    }
  }

  private static void c2FromTwoPlaces() {
    inlinedCall();
    inlinedCall();
  }

  private static void inlinedCall() {
    c2Leaf();
  }

  /** Between the last two probes, c2ThenTrap does what C2 has never seen, and is deoptimised. */
  static void warmC2ThenTrap() {
    for (int i = 0; i < 20_001; i++) {
      c2ThenTrap(i == 20_000);
    }
  }

  private static void c2ThenTrap(boolean trap) {
    Api.probe();
    if (trap) {
      sink = 3 * sink;
    }
    Api.probe();
  }

  /** C2 compiles c2Twice with both probes; the last two probes count. */
  static void warmC2Twice() {
    for (int i = 0; i < 20_001; i++) {
      c2Twice();
    }
  }

  private static void c2Twice() {
    inlinedFirst();
    inlinedSecond();
  }

  /** The last two probes count: c2Inlined, with two methods in it, has returned by the second. */
  static void warmC2InlinedThenProbe() {
    for (int i = 0; i < 20_001; i++) {
      c2InlinedThenProbe();
    }
  }

  private static void c2InlinedThenProbe() {
    c2Inlined();
    inlinedSecond();
  }

  private static void c2Inlined() {
    inlinedThird();
  }

  private static void inlinedThird() {
    inlinedFirst();
  }

  private static void inlinedFirst() {
    Api.probe();
  }

  private static void inlinedSecond() {
    Api.probe();
  }

  /** The last two probes count; between them c2Leaf returns and its caller is deoptimised. */
  static void warmC2LeafThenProbe() {
    for (int i = 0; i < 20_001; i++) {
      c2LeafThenProbe();
    }
  }

  private static void c2LeafThenProbe() {
    c2Leaf();
    inlinedSecond();
  }

  private static void c2Leaf() {
    Api.probe();
  }

  /** Runs one virtual thread after the other, each with one probe. */
  static void virtualLeaves() throws Exception {
    var start = Thread.class.getMethod("startVirtualThread", Runnable.class);
    for (int i = 0; i < 100; i++) {
      ((Thread) start.invoke(null, (Runnable) Queued::interpLeaf)).join();
    }
  }

  /** Makes many short calls, for samples at any place. */
  static void interpCalls() {
    while (!Api.stop) {
      interpOne();
    }
  }

  private static void interpOne() {
    interpTwo();
  }

  private static void interpTwo() {
    sink++;
  }

  static void c2Calls() {
    while (!Api.stop) {
      c2One(40);
    }
  }

  private static int c2One(int n) {
    return n == 0 ? sink++ : c2One(n - 1) + 1;
  }

  /** Plays a torture program as wh.torture.Main does, which would exit behind it. */
  static int play(String name, int seconds) throws ReflectiveOperationException {
    Class<?> options = Class.forName("wh.torture.Options");
    Class<?> program = Class.forName("wh.torture.Program");
    Class<?> run = Class.forName("wh.torture.Run");
    var words = List.of(name, "--seconds", "" + seconds, "--threads", "2");
    Object parsed = open(options.getDeclaredMethod("parse", List.class)).invoke(null, words);
    Object table = open(Class.forName("wh.torture.Main").getDeclaredField("TABLE")).get(null);
    for (Object row : (Object[]) table) {
      Class<?> type = row.getClass();
      if (!name.equals(open(type.getDeclaredField("name")).get(row))) continue;
      Object played = open(type.getDeclaredField("program")).get(row);
      Object one = open(run.getDeclaredConstructor(options, program)).newInstance(parsed, played);
      return (int) open(run.getDeclaredMethod("play")).invoke(one);
    }
    return -1;
  }

  private static <T extends AccessibleObject> T open(T member) {
    member.setAccessible(true);
    return member;
  }
}
