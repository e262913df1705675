// SPDX-License-Identifier: Apache-2.0
package wh.torture;

/** Makes the worker of a thread, on that thread. */
@FunctionalInterface
interface Program {
  Worker worker(Context context) throws Throwable;
}
