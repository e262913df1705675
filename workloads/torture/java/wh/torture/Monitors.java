// SPDX-License-Identifier: Apache-2.0
package wh.torture;

/** Contended and inflated monitors, wait and notify: each worker plays against a partner. */
final class Monitors extends Worker {
  private static final int CELLS = 8;
  private static final int TURNS = 300;

  Monitors(Context context) {
    super(context);
  }

  private static final class Cell {
    private long count;

    // Takes the cell's monitor recursively, and inflates it now and then.
    long add(int depth, int kind) throws InterruptedException {
      synchronized (this) {
        if (depth > 0) return add(depth - 1, kind);
        if (kind == 0) wait(0, 1000);
        if (kind == 1) return ++count + 0L * System.identityHashCode(this);
        return ++count;
      }
    }

    synchronized long count() {
      return count;
    }
  }

  /** Holds one message at a time. */
  private static final class Mailbox {
    private long message;
    private boolean full;

    synchronized void put(long sent) throws InterruptedException {
      while (full) wait();
      message = sent;
      full = true;
      notifyAll();
    }

    synchronized long take() throws InterruptedException {
      while (!full) wait();
      full = false;
      notifyAll();
      return message;
    }
  }

  @Override
  public void round() throws InterruptedException {
    Cell[] cells = new Cell[CELLS];
    for (int i = 0; i < CELLS; i++) cells[i] = new Cell();
    Mailbox there = new Mailbox();
    Mailbox back = new Mailbox();
    long seed = context.random.nextLong();
    int turns = TURNS * context.scale;
    Side partner = new Side(cells, there, back, turns, seed + 1);
    Thread thread = new Thread(null, partner, context.threadName() + "-partner");
    thread.setDaemon(true);
    thread.start();
    long sum = 0;
    contend(cells, turns, seed);
    for (int i = 0; i < turns; i++) {
      there.put(seed + i);
      sum += back.take() - seed;
    }
    thread.join(context.patienceMillis());
    context.that(!thread.isAlive(), "the partner has not ended");
    context.same("the sum of answers", turns * (turns - 1L), context.planted(sum));
    long count = 0;
    for (Cell cell : cells) count += cell.count();
    context.same("the count under monitors", 2L * turns, count);
  }

  private static void contend(Cell[] cells, int turns, long seed) throws InterruptedException {
    for (int i = 0; i < turns; i++) {
      long draw = Mix.mix(seed + i);
      cells[(int) (draw & (CELLS - 1))].add((int) (draw >>> 8 & 3), (int) (draw >>> 16 & 31));
    }
  }

  private static final class Side implements Runnable {
    private final Cell[] cells;
    private final Mailbox there;
    private final Mailbox back;
    private final int turns;
    private final long seed;

    Side(Cell[] cells, Mailbox there, Mailbox back, int turns, long seed) {
      this.cells = cells;
      this.there = there;
      this.back = back;
      this.turns = turns;
      this.seed = seed;
    }

    @Override
    public void run() {
      try {
        contend(cells, turns, seed);
        for (int i = 0; i < turns; i++) back.put(there.take() + i);
      } catch (InterruptedException e) {
        throw new IllegalStateException(e); // no code interrupts it
      }
    }
  }
}
