// SPDX-License-Identifier: Apache-2.0
package wh;

import java.net.ServerSocket;
import java.nio.channels.Selector;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.concurrent.locks.ReentrantLock;

/** Each method brings its thread into one state and stays there until it is interrupted. */
final class States {
  private static final long MINUTE = 60_000;
  private static final Object MONITOR = new Object();
  private static final ReentrantLock LOCK = new ReentrantLock();
  private static volatile long sink;
  private static volatile AutoCloseable open;

  private States() {}

  static void sleep() throws Exception {
    Thread.sleep(MINUTE);
  }

  static void sleepForNanos() throws Exception {
    Thread.sleep(MINUTE, 5);
  }

  static void await() throws Exception {
    synchronized (States.class) {
      States.class.wait();
    }
  }

  static void awaitTimed() throws Exception {
    synchronized (States.class) {
      States.class.wait(MINUTE);
    }
  }

  static void park() {
    LockSupport.park();
  }

  static void parkWithBlocker() {
    LockSupport.park(MONITOR);
  }

  static void parkTimed() {
    LockSupport.parkNanos(MINUTE * 1_000_000);
  }

  static void parkUntil() {
    LockSupport.parkUntil(System.currentTimeMillis() + MINUTE);
  }

  static void take() throws Exception {
    new LinkedBlockingQueue<String>().take();
  }

  static void poll() throws Exception {
    new SynchronousQueue<String>().poll(MINUTE, TimeUnit.MILLISECONDS);
  }

  static void latch() throws Exception {
    new CountDownLatch(1).await();
  }

  static void acquireTimed() throws Exception {
    new Semaphore(0).tryAcquire(MINUTE, TimeUnit.MILLISECONDS);
  }

  static void lock() throws Exception {
    LOCK.lockInterruptibly();
  }

  static void join() throws Exception {
    Thread.currentThread().join();
  }

  static void joinTimed() throws Exception {
    Thread.currentThread().join(MINUTE);
  }

  static void enter() {
    synchronized (MONITOR) {
      sink++;
    }
  }

  /** Has been notified, and waits to enter the monitor again. */
  static void reenter() throws Exception {
    synchronized (MONITOR) {
      MONITOR.wait();
    }
  }

  static void spin() {
    while (!Thread.interrupted()) {
      sink++;
    }
  }

  static void spinInterrupted() {
    Thread.currentThread().interrupt();
    while (!Api.stop) {
      sink++;
    }
  }

  static void accept() throws Exception {
    try (ServerSocket socket = new ServerSocket(0)) {
      open = socket;
      if (!Thread.currentThread().isInterrupted()) { // else end() has come before
        socket.accept();
      }
    } catch (java.io.IOException closed) {
      sink++;
    }
  }

  static void select() throws Exception {
    try (Selector selector = Selector.open()) {
      selector.select(MINUTE);
    }
  }

  /** The caller also holds the monitor, by JNI. */
  static void hold() {
    LOCK.lock();
    MONITOR.notifyAll();
  }

  static void release() {
    LOCK.unlock();
  }

  static void end(Thread thread) throws Exception {
    thread.interrupt();
    AutoCloseable socket = open;
    open = null;
    if (socket != null) {
      socket.close();
    }
  }
}
