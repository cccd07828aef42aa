package io.troupe.mvcc;

import io.troupe.model.Bytes;
import io.troupe.model.KeyValue;
import io.troupe.mvcc.OrderedStore.Cursor;
import io.troupe.mvcc.OrderedStore.Space;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Checks the rules across the rows of a state that no member uses (docs/formats/store-keys.md,
 * "Rules across rows"), except those about members. Reads every row; memory: one row. One thread.
 */
public final class StoreCheck {
  private final StoreView store;
  private final Consumer<String> problems;
  private long current;
  private long changes;
  private long keys;
  private long leases;
  private long attached;

  /** From this revision on, changes show which puts create a key. */
  private long creationsSince = Long.MAX_VALUE;

  /**
   * What the state contains.
   *
   * @param appliedIndex 0 for an empty state
   * @param compactedRevision -1 if nothing was compacted
   * @param changes records of the history
   * @param keys live keys
   * @param partial true if the state contains a part of an entry, whose rows are not checked: the
   *     next start removes them
   */
  public record Summary(
      long appliedIndex,
      long revision,
      long compactedRevision,
      long changes,
      long keys,
      long leases,
      boolean partial) {}

  private StoreCheck(StoreView store, Consumer<String> problems) {
    this.store = store;
    this.problems = problems;
  }

  /**
   * Checks a state.
   *
   * @param problems receives one sentence for each violated rule
   */
  public static Summary run(StoreView store, Consumer<String> problems) {
    return new StoreCheck(store, problems).run();
  }

  private void problem(String text) {
    problems.accept(text);
  }

  private Summary run() {
    boolean partial = PartialEntry.find(store) != null;
    long compacted = number(StoreKeys.META_COMPACTED, -1);
    Bytes revision = store.get(Space.LATEST, StoreKeys.LATEST_REVISION);
    current = revision == null ? MvccStore.FIRST_REVISION : StoreKeys.getLong(revision, 0);
    schema();
    revisions(compacted);
    Bytes applied = store.get(Space.META, StoreKeys.META_APPLIED);
    boolean counted = false;
    if (applied != null && CountRows.areComplete(applied)) {
      counted = true;
      creationsSince = CountRows.creationsSince(applied);
    }
    if (!partial) {
      history();
      latest();
      leases();
      if (counted) {
        counts();
      }
    }
    return new Summary(
        number(StoreKeys.META_APPLIED, 0), current, compacted, changes, keys, leases, partial);
  }

  private long number(Bytes key, long otherwise) {
    Bytes row = store.get(Space.META, key);
    return row == null ? otherwise : StoreKeys.getLong(row, 0);
  }

  private void schema() {
    Bytes schema = store.get(Space.META, StoreKeys.META_SCHEMA);
    if (schema != null && !StoreSchema.isKnown(schema)) {
      problem(
          "META/schema is " + StoreKeys.getLong(schema, 0) + ", which this program does not know");
    }
  }

  private void revisions(long compacted) {
    long finished = number(StoreKeys.META_COMPACTION_FINISHED, -1);
    if (finished > compacted) {
      problem("compaction-finished " + finished + " is above the compacted revision " + compacted);
    }
    if (compacted > current) {
      problem("compacted revision " + compacted + " is above the current revision " + current);
    }
  }

  /** Every version has a row of REV, and there are no more of REV. */
  private void history() {
    try (Cursor rows = VersionCursor.open(store, Bytes.EMPTY, null)) {
      while (rows.next()) {
        Bytes row = rows.key();
        long main = StoreKeys.main(row);
        int sub = StoreKeys.sub(row);
        Bytes change = store.get(Space.REV, StoreKeys.revision(main, sub));
        changes++;
        if (main < 1 || main > current) {
          problem(at(main, sub) + " is above the current revision " + current);
        }
        if (change == null || !isChangeOf(change, row, rows)) {
          problem(
              at(main, sub)
                  + (change == null ? " has no row in REV" : " has another row in REV")
                  + " than key "
                  + StoreKeys.userKey(row));
        }
      }
    }
    long revisions = 0;
    try (Cursor rows = store.cursor(Space.REV, Bytes.EMPTY, null, false)) {
      while (rows.next()) {
        revisions++;
        long main = StoreKeys.revisionMain(rows.key());
        if (main > current) {
          problem(
              at(main, StoreKeys.revisionSub(rows.key()))
                  + " of REV is above the current revision "
                  + current);
        }
      }
    }
    if (revisions != changes) {
      problem("KEY and LATEST have " + changes + " versions, REV has " + revisions);
      missingVersions();
    }
  }

  private void missingVersions() {
    try (HistoryCursors history = HistoryCursors.open(store, Bytes.EMPTY, null)) {
      Cursor rows = history.changes();
      while (rows.next()) {
        Bytes key = RowCodec.changedKey(rows.value());
        long main = StoreKeys.revisionMain(rows.key());
        int sub = StoreKeys.revisionSub(rows.key());
        boolean deletion = RowCodec.isTombstoneChange(rows.value());
        if (!history.rows().seekExactly(key, StoreKeys.row(key, main, sub, deletion))) {
          problem(at(main, sub) + " of REV has no version of key " + key);
        }
      }
    }
  }

  /** Old programs do not tell a creation from another put. */
  private boolean isChangeOf(Bytes change, Bytes row, Cursor rows) {
    Bytes key = StoreKeys.userKey(row);
    if (StoreKeys.isTombstone(row)) {
      return change.equals(RowCodec.deletion(key));
    }
    long version = RowCodec.versionOf(rows.valueHead(RowCodec.HEADER_BYTES));
    return change.equals(RowCodec.put(version, key))
        || (StoreKeys.main(row) < creationsSince && change.equals(RowCodec.put(2, key)));
  }

  private static String at(long main, int sub) {
    return "revision " + main + "_" + sub;
  }

  /** LATEST contains the newest version of each live key, and each is attached to its lease. */
  private void latest() {
    long newest = 0;
    try (Cursor rows = VersionCursor.open(store, Bytes.EMPTY, null)) {
      @Nullable Bytes last = null;
      while (rows.next()) {
        Bytes row = rows.key();
        if (last == null || !StoreKeys.sameKey(row, last)) {
          newest += StoreKeys.isTombstone(row) ? 0 : 1;
          newest(row, rows.value());
        }
        last = row;
      }
    }
    try (Cursor rows =
        store.cursor(Space.LATEST, StoreKeys.LATEST_REVISION.successor(), null, false)) {
      while (rows.next()) {
        keys++;
      }
    }
    if (keys != newest) {
      problem("LATEST has " + keys + " keys, the history has " + newest + " live ones");
    }
  }

  private void newest(Bytes row, Bytes value) {
    Bytes key = StoreKeys.userKey(row);
    Bytes latest = store.get(Space.LATEST, key);
    if (StoreKeys.isTombstone(row)) {
      if (latest != null) {
        problem("key " + key + " is deleted, but has a row in LATEST");
      }
      return;
    }
    KeyValue kv = RowCodec.keyValue(row, value);
    if (latest == null || !RowCodec.latest(key, latest).kv().equals(kv)) {
      problem(
          "key "
              + key
              + " is at revision "
              + kv.modRevision()
              + ", but LATEST has "
              + (latest == null ? "no row" : "another record"));
    }
    boolean granted =
        kv.lease() != 0 && store.get(Space.LEASE, StoreKeys.grant(kv.lease())) != null;
    if (granted) {
      attached++;
      if (store.get(Space.LEASE, StoreKeys.attachment(kv.lease(), key)) == null) {
        problem("key " + key + " is not attached to its lease " + Long.toHexString(kv.lease()));
      }
    }
  }

  /** Each live key is counted in its block. */
  private void counts() {
    Bytes first = StoreKeys.LATEST_REVISION.successor();
    try (Cursor blocks = CountRows.cursor(store);
        Cursor live = store.cursor(Space.LATEST, first, null, false)) {
      boolean onBlock = blocks.next();
      if (!onBlock || !CountRows.start(blocks.key()).isEmpty()) {
        problem("the first block of live keys has no count");
        return;
      }
      boolean onKey = live.next();
      while (onBlock) {
        Bytes start = CountRows.start(blocks.key());
        long counted = CountRows.count(blocks.value());
        onBlock = blocks.next();
        Bytes end = onBlock ? CountRows.start(blocks.key()) : null;
        long found = 0;
        while (onKey && (end == null || live.key().compareTo(end) < 0)) {
          found++;
          onKey = live.next();
        }
        if (found != counted) {
          problem(
              "the block of keys from "
                  + start
                  + " counts "
                  + counted
                  + " live keys, LATEST has "
                  + found);
        }
      }
    }
  }

  /** An attachment names a granted lease and a key that has it. */
  private void leases() {
    long attachments = 0;
    try (Cursor rows = store.cursor(Space.LEASE, Bytes.EMPTY, null, false)) {
      while (rows.next()) {
        long id = StoreKeys.leaseId(rows.key());
        if (rows.key().equals(StoreKeys.grant(id))) {
          leases++;
          continue;
        }
        attachments++;
        if (store.get(Space.LEASE, StoreKeys.grant(id)) == null) {
          problem(
              "key "
                  + StoreKeys.attachedKey(rows.key())
                  + " is attached to lease "
                  + Long.toHexString(id)
                  + ", which does not exist");
        }
      }
    }
    if (attachments != attached) {
      problem(
          attachments + " keys are attached to leases, " + attached + " keys have a granted lease");
    }
  }
}
