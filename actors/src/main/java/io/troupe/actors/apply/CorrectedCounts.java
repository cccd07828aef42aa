package io.troupe.actors.apply;

import io.troupe.mvcc.MvccReader;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Logs corrections of the counts of live keys. For the apply actor. */
final class CorrectedCounts {
  private static final Logger LOG = LoggerFactory.getLogger(CorrectedCounts.class);

  private final MvccReader reader;
  private long logged;

  CorrectedCounts(MvccReader reader) {
    this.reader = reader;
  }

  /** Called at intervals. */
  void check() {
    long corrections = reader.countCorrections();
    if (corrections > logged) {
      LOG.error(
          "counts of live keys were wrong and are corrected; responses may have had a wrong count,"
              + " their keys and values were right; report this as a fault of the program"
              + " corrected-blocks={} since-start={}",
          corrections - logged,
          corrections);
      logged = corrections;
    }
  }
}
