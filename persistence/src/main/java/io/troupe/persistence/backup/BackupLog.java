package io.troupe.persistence.backup;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The log in a target, with which a restore reaches any entry after a backup. It consists of
 * streams: entries without a gap. A leader continues the newest stream if it has that stream's last
 * entry in its own log, and else begins a stream. Files may overlap, because two leaders may write
 * for a moment; all entries are committed, so they are the same. Blocking.
 */
public final class BackupLog {
  static final String LOGS = "logs";
  private static final int BUFFER_BYTES = 256 << 10;

  private static final Logger LOG = LoggerFactory.getLogger(BackupLog.class);

  private final BackupTarget target;

  /** Uses a target. */
  public BackupLog(BackupTarget target) {
    this.target = target;
  }

  /**
   * The end of a stream.
   *
   * @param stream its name
   * @param first index of its first entry
   * @param last index of its last entry; first - 1 if it has none
   * @param lastTerm term of that entry
   */
  public record End(String stream, long first, long last, long lastTerm) {}

  /**
   * A new stream. It exists in the target when its first part does.
   *
   * @param index last entry that is not in it
   * @param term of that entry
   */
  public End begin(long cluster, long index, long term) {
    LogName newest = newest(cluster, names());
    int number = newest == null ? 1 : newest.number() + 1;
    return new End(LogName.stream(cluster, number, index + 1), index + 1, index, term);
  }

  private static @Nullable LogName newest(long cluster, List<LogName> names) {
    LogName newest = null;
    for (LogName name : names) {
      newest = name.cluster() == cluster ? name : newest;
    }
    return newest;
  }

  /**
   * The end of the newest stream of a cluster.
   *
   * @return null if there is none, or if its last file is damaged, which is logged
   * @throws BackupException if the target cannot be read
   */
  public @Nullable End newest(long cluster) {
    List<LogName> names = names();
    LogName newest = newest(cluster, names);
    if (newest == null) {
      return null;
    }
    String stream = newest.stream();
    LogName first = newest;
    LogName last = newest;
    for (LogName name : names) {
      if (name.stream().equals(stream)) {
        first = name.first() < first.first() ? name : first;
        last = name.last() > last.last() ? name : last;
      }
    }
    try {
      LogPart part = read(last);
      return new End(stream, first.first(), part.last(), part.lastTerm());
    } catch (BackupException damaged) {
      if (damaged.getCause() instanceof IOException) {
        throw damaged;
      }
      LOG.error("stream of the log is not continued reason={}", damaged.getMessage());
      return null;
    }
  }

  /**
   * Adds a part to a stream, and reads it again.
   *
   * @param part continues the end
   * @return the new end
   * @throws BackupException if the target cannot be written, or returns other bytes
   */
  public End append(End end, LogPart part) {
    if (part.first() != end.last() + 1 || part.previousTerm() != end.lastTerm()) {
      throw new IllegalArgumentException("part from " + part.first() + " does not continue " + end);
    }
    byte[] content = part.encode();
    String name = LOGS + "/" + LogName.of(end.stream(), part).file();
    try {
      target.write(name, () -> new ByteArrayInputStream(content));
      try (InputStream in = target.read(name)) {
        if (!isSame(in, content)) {
          throw new BackupException(target.text() + "/" + name + " has other bytes than written");
        }
      }
    } catch (IOException e) {
      throw new BackupException("cannot write the log to " + target.text() + ": " + e, e);
    }
    return new End(end.stream(), end.first(), part.last(), part.lastTerm());
  }

  /** Compares piece by piece: a part may be large. */
  private static boolean isSame(InputStream in, byte[] content) throws IOException {
    int at = 0;
    for (byte[] read = in.readNBytes(BUFFER_BYTES);
        read.length > 0;
        read = in.readNBytes(BUFFER_BYTES)) {
      int end = at + read.length;
      if (end > content.length || !Arrays.equals(read, 0, read.length, content, at, end)) {
        return false;
      }
      at = end;
    }
    return at == content.length;
  }

  /** All log files, sorted by name. */
  List<LogName> names() {
    try {
      return target.list(LOGS).stream().map(LogName::parse).filter(Objects::nonNull).toList();
    } catch (IOException e) {
      throw new BackupException("cannot read the log in " + target.text() + ": " + e, e);
    }
  }

  /** Reads a part and compares it with its name. */
  LogPart read(LogName name) {
    String file = name.file();
    LogPart part;
    try (InputStream in = target.read(LOGS + "/" + file)) {
      part = LogPart.decode(file, in.readAllBytes());
    } catch (IOException e) {
      throw new BackupException("cannot read log file " + file + ": " + e, e);
    }
    if (!LogName.of(name.stream(), part).equals(name)) {
      throw new BackupException("log file " + file + ": has the content of another file");
    }
    return part;
  }

  /**
   * Finds the log after each of some backups.
   *
   * @throws BackupException if the target cannot be read
   */
  public List<Continuation> after(List<BackupManifest> backups) {
    List<LogName> names = names();
    return backups.stream().map(backup -> after(backup, names)).toList();
  }

  /** Finds the log after a backup. */
  public Continuation after(BackupManifest backup) {
    return after(backup, names());
  }

  /** The stream that reaches furthest, of those that contain the history of the backup. */
  private Continuation after(BackupManifest backup, List<LogName> names) {
    List<List<LogName>> candidates = new ArrayList<>();
    int at = 0;
    while (at < names.size()) {
      int end = at;
      while (end < names.size() && names.get(end).stream().equals(names.get(at).stream())) {
        end++;
      }
      List<LogName> stream = names.subList(at, end);
      if (stream.get(0).cluster() == backup.cluster()) {
        List<LogName> parts = contiguous(stream, backup.index() + 1);
        if (!parts.isEmpty()) {
          candidates.add(parts);
        }
      }
      at = end;
    }
    candidates.sort(Comparator.comparingLong((List<LogName> parts) -> last(parts)).reversed());
    for (List<LogName> parts : candidates) {
      LogName first = parts.get(0);
      // Another history has the same indexes if a member was made the only one of its cluster.
      if (read(first).termOf(backup.index()) == backup.term()) {
        return new Continuation(this, backup, parts);
      }
    }
    return new Continuation(this, backup, List.of());
  }

  private static long last(List<LogName> parts) {
    return parts.get(parts.size() - 1).last();
  }

  /**
   * The fewest files of a stream that have all entries from an index on, as far as there is no gap.
   *
   * @param stream sorted by first index
   */
  private static List<LogName> contiguous(List<LogName> stream, long from) {
    List<LogName> parts = new ArrayList<>();
    long next = from;
    int at = 0;
    while (true) {
      LogName best = null;
      while (at < stream.size() && stream.get(at).first() <= next) {
        LogName each = stream.get(at);
        best = each.last() >= (best == null ? next : best.last()) ? each : best;
        at++;
      }
      if (best == null) {
        return parts;
      }
      parts.add(best);
      next = best.last() + 1;
    }
  }

  /**
   * Deletes the files of a cluster that no backup needs.
   *
   * @param oldest index of the oldest backup that remains
   * @return number of deleted files
   * @throws BackupException if the target cannot be changed
   */
  int retain(long cluster, long oldest) {
    int deleted = 0;
    for (LogName name : names()) {
      if (name.cluster() == cluster && name.last() <= oldest) {
        try {
          target.delete(LOGS + "/" + name.file());
        } catch (IOException e) {
          throw new BackupException("cannot delete old log in " + target.text() + ": " + e, e);
        }
        deleted++;
      }
    }
    return deleted;
  }
}
