// SPDX-License-Identifier: Apache-2.0
package wh;

/** static-initializer: three nested class initialisers. */
final class Initializers {
  private Initializers() {}

  static void play() {
    Harness.arm();
    touch(new Object[] {"held"});
  }

  private static long touch(Object[] held) {
    return Outer.value + held.length; // getstatic
  }

  private static final class Outer {
    static long value = 1 + Middle.value(2); // invokestatic
  }

  private static class Middle {
    private static final Object[] held = {new Inner("inner")}; // new

    static long value(long x) {
      return x + held.length;
    }
  }

  private abstract static class InnerParent {
    static final long value = parkThere(3); // initialised before its subclass

    private static long parkThere(long x) {
      Harness.park();
      return x;
    }
  }

  private static final class Inner extends InnerParent {
    final String name;

    Inner(String name) {
      this.name = name + value;
    }
  }
}
