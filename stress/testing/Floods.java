// SPDX-License-Identifier: Apache-2.0
/** Prints without end. */
class Floods {
  public static void main(String[] args) {
    byte[] line = new byte[1 << 16];
    java.util.Arrays.fill(line, (byte) 'x');
    while (true) {
      System.out.write(line, 0, line.length);
    }
  }
}
