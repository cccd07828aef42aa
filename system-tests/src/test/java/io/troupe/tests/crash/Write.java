package io.troupe.tests.crash;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * One write of a client and its outcome. {@link #predict} computes its effect on a state, so each
 * revision of the history can be compared with the write that created it.
 */
final class Write {
  /** The request. */
  sealed interface Action {}

  /** Sets a key; the value begins with the write's id. Lease 0 for none. */
  record Put(String key, String value, long lease) implements Action {}

  /** Deletes a key if it exists. */
  record Delete(String key) implements Action {}

  /** If {@code guard} exists, puts and a deletion; otherwise one put. */
  record Txn(String guard, List<Put> puts, @Nullable String deleted, Put otherwise)
      implements Action {}

  /** Revokes a lease (by request or expiry) and deletes its keys. */
  record Revoke(long lease) implements Action {}

  /** What the client knows of the outcome. */
  enum Outcome {
    /** No response: the write may have been applied completely, or not. */
    UNKNOWN,
    ACKNOWLEDGED,
    /** The member refused: the write was not applied. */
    REFUSED
  }

  /** A record as the API returns it. */
  record Version(String value, long created, long modified, long version, long lease) {}

  /** A change of one key; null is a deletion. */
  record Change(String key, @Nullable Version version) {}

  final String id;
  final Action action;

  /** Each write acknowledged before this one began has a revision of at most this. */
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
   * The effect on a state.
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
