package io.troupe.node.backup;

import io.troupe.persistence.backup.BackupException;
import io.troupe.persistence.backup.BackupTarget;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.List;
import java.util.function.LongSupplier;

/**
 * The target of one job: knows when the target last responded, and ends the job at its next call
 * after it was given up. So a call that hung and returns late changes nothing more.
 */
final class WatchedTarget implements BackupTarget {
  private static final String NO_CALL = "reading the state of this member";

  private final BackupTarget target;
  private final LongSupplier nanoTime;
  private volatile long progressNanos;
  private volatile String call = NO_CALL;
  private volatile boolean givenUp;

  WatchedTarget(BackupTarget target, LongSupplier nanoTime) {
    this.target = target;
    this.nanoTime = nanoTime;
    this.progressNanos = nanoTime.getAsLong();
  }

  /** Nanoseconds since the last sign of progress. */
  long stalledNanos() {
    return nanoTime.getAsLong() - progressNanos;
  }

  /** What the job does now, for operators. */
  String call() {
    return call;
  }

  /** Ends the job at its next call. */
  void giveUp() {
    givenUp = true;
  }

  private interface Call<T> {
    T run() throws IOException;
  }

  private <T> T watched(String text, Call<T> body) throws IOException {
    progress();
    call = text;
    try {
      return body.run();
    } finally {
      progress();
      call = NO_CALL;
    }
  }

  private void progress() {
    if (givenUp) {
      throw new BackupException("the work on the target was given up");
    }
    progressNanos = nanoTime.getAsLong();
  }

  @Override
  public List<String> list(String folder) throws IOException {
    return watched("listing " + folder, () -> target.list(folder));
  }

  @Override
  public boolean has(String name) throws IOException {
    return watched("looking for " + name, () -> target.has(name));
  }

  @Override
  public void write(String name, Content content) throws IOException {
    Content counted = () -> new Watched(content.open(), "writing " + name);
    watched(
        "writing " + name,
        () -> {
          target.write(name, counted);
          return true;
        });
  }

  @Override
  public InputStream read(String name) throws IOException {
    return new Watched(watched("opening " + name, () -> target.read(name)), "reading " + name);
  }

  @Override
  public void delete(String name) throws IOException {
    watched(
        "deleting " + name,
        () -> {
          target.delete(name);
          return true;
        });
  }

  @Override
  public String text() {
    return target.text();
  }

  /** Each part that is read is progress. */
  private final class Watched extends FilterInputStream {
    private final String text;

    Watched(InputStream in, String text) {
      super(in);
      this.text = text;
    }

    @Override
    public int read() throws IOException {
      progress();
      call = text;
      int read = super.read();
      progress();
      return read;
    }

    @Override
    public int read(byte[] buffer, int offset, int length) throws IOException {
      progress();
      call = text;
      int read = super.read(buffer, offset, length);
      progress();
      return read;
    }
  }
}
