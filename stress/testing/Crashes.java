// SPDX-License-Identifier: Apache-2.0
import java.lang.reflect.Field;

/** Works for as many milliseconds as its argument says, then writes to address 0. */
class Crashes {
  public static void main(String[] args) throws Exception {
    Class<?> type = Class.forName("sun.misc.Unsafe");
    Field unsafe = type.getDeclaredField("theUnsafe");
    unsafe.setAccessible(true);
    Work.forMillis(Long.parseLong(args[0]));
    type.getMethod("putInt", long.class, int.class).invoke(unsafe.get(null), 0L, 1);
  }
}
