package io.troupe.node.backup;

import io.troupe.persistence.backup.BackupTarget;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** A target whose writes hang, fail or are cut while a test wants it. Calls ignore interrupts. */
final class BlockingTarget implements BackupTarget {
  private final BackupTarget target;
  private volatile @Nullable CountDownLatch block;
  private volatile String blocked = "";
  private volatile @Nullable String failing;

  /** Calls that hang now. */
  final AtomicInteger hanging = new AtomicInteger();

  BlockingTarget(BackupTarget target) {
    this.target = target;
  }

  /** From now on, writes of files whose name starts with this text hang. */
  void block(String name) {
    blocked = name;
    block = new CountDownLatch(1);
  }

  /** All calls continue. */
  void release() {
    CountDownLatch current = block;
    block = null;
    if (current != null) {
      current.countDown();
    }
  }

  /** From now on, writes of files whose name starts with this text fail; null: all succeed. */
  void failing(@Nullable String name) {
    failing = name;
  }

  private void pass(String name) throws IOException {
    CountDownLatch current = block;
    if (current != null && name.startsWith(blocked)) {
      hanging.incrementAndGet();
      boolean passed = false;
      while (!passed) {
        try {
          current.await();
          passed = true;
        } catch (InterruptedException ignored) {
          // A call to a dead file server does not end either.
        }
      }
      hanging.decrementAndGet();
    }
    String failed = failing;
    if (failed != null && name.startsWith(failed)) {
      throw new IOException("input/output error");
    }
  }

  @Override
  public List<String> list(String folder) throws IOException {
    return target.list(folder);
  }

  @Override
  public boolean has(String name) throws IOException {
    return target.has(name);
  }

  @Override
  public void write(String name, Content content) throws IOException {
    pass(name);
    target.write(name, content);
  }

  @Override
  public InputStream read(String name) throws IOException {
    return target.read(name);
  }

  @Override
  public void delete(String name) throws IOException {
    target.delete(name);
  }

  @Override
  public String text() {
    return target.text();
  }
}
