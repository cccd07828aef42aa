package io.troupe.node.crash;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One write of a client and how it ended. What it does to a state is told by {@link #predict}, so
 * that every revision of the history can be compared with the write that made it.
 */
final class Write {
  /** What was asked for. */
  sealed interface Action {}

  /** Sets a key; the value begins with the write's id. Lease 0 for none. */
  record Put(String key, String value, long lease) implements Action {}

  /** Removes a key if it is there. */
  record Delete(String key) implements Action {}

  /** If {@code guard} exists, puts and a deletion; otherwise one put. */
  record Txn(String guard, List<Put> puts, @Nullable String deleted, Put otherwise)
      implements Action {}

  /** Ends a lease (asked for, or run out) and removes its keys. */
  record Revoke(long lease) implements Action {}

  /** What is known of it. */
  enum Outcome {
    /** No answer: it may have happened, whole, or not. */
    UNKNOWN,
    ACKNOWLEDGED,
    /** The member said no: it did not happen. */
    REFUSED
  }

  /** A record as the API shows it. */
  record Version(String value, long created, long modified, long version, long lease) {}

  /** A change of one key; null is a deletion. */
  record Change(String key, @Nullable Version version) {}

  final String id;
  final Action action;

  /** Every write acknowledged before this one began has a revision of at most this. */
  final long acknowledgedBefore;

  volatile Outcome outcome = Outcome.UNKNOWN;

  /** The header's revision if acknowledged. */
  volatile long revision;

  Write(String id, Action action, long acknowledgedBefore) {
    this.id = id;
    this.action = action;
    this.acknowledgedBefore = acknowledgedBefore;
  }

  void acknowledged(long headerRevision) {
    revision = headerRevision;
    outcome = Outcome.ACKNOWLEDGED;
  }

  boolean isKnown() {
    return outcome != Outcome.UNKNOWN;
  }

  /**
   * What it changes in a state.
   *
   * @param next the revision it gets
   * @return by key, ascending; empty when it changes nothing and gets no revision
   */
  List<Change> predict(NavigableMap<String, Version> state, long next) {
    NavigableMap<String, Change> changes = new TreeMap<>();
    if (action instanceof Put put) {
      put(state, put, next, changes);
    } else if (action instanceof Delete delete) {
      delete(state, delete.key(), changes);
    } else if (action instanceof Txn txn) {
      if (state.containsKey(txn.guard())) {
        txn.puts().forEach(put -> put(state, put, next, changes));
        if (txn.deleted() != null) {
          delete(state, txn.deleted(), changes);
        }
      } else {
        put(state, txn.otherwise(), next, changes);
      }
    } else if (action instanceof Revoke revoke) {
      state.forEach(
          (key, version) -> {
            if (version.lease() == revoke.lease()) {
              changes.put(key, new Change(key, null));
            }
          });
    }
    return new ArrayList<>(changes.values());
  }

  private static void put(
      NavigableMap<String, Version> state, Put put, long next, NavigableMap<String, Change> into) {
    Version before = state.get(put.key());
    Version after =
        before == null
            ? new Version(put.value(), next, next, 1, put.lease())
            : new Version(put.value(), before.created(), next, before.version() + 1, put.lease());
    into.put(put.key(), new Change(put.key(), after));
  }

  private static void delete(
      NavigableMap<String, Version> state, String key, NavigableMap<String, Change> into) {
    if (state.containsKey(key)) {
      into.put(key, new Change(key, null));
    }
  }

  @Override
  public String toString() {
    String what = action.toString();
    return id
        + " "
        + (what.length() > 200 ? what.substring(0, 200) + "..." : what)
        + " "
        + outcome
        + " revision="
        + revision;
  }
}
