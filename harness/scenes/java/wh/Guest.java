// SPDX-License-Identifier: Apache-2.0
package wh;

/** Defined by GuestLoader, not by the application's loader. */
public final class Guest implements Runnable {
  public Guest() {}

  @Override
  public void run() {
    interpVisit(3, "guest");
  }

  private static long interpVisit(int rooms, String held) {
    if (rooms > 0) return interpVisit(rooms - 1, held) + held.length();
    return meet("friend");
  }

  private static long meet(String name) {
    return new GuestFriend(name).length(); // resolving this class calls GuestLoader.loadClass
  }
}

final class GuestFriend {
  private final String name;

  GuestFriend(String name) {
    this.name = name;
  }

  int length() {
    return name.length();
  }
}
