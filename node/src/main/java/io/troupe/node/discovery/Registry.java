package io.troupe.node.discovery;

import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** The keys of another cluster, as far as discovery needs them. All reads are linearizable. */
interface Registry {
  /**
   * A key and its value.
   *
   * @param createRevision orders keys by creation
   */
  record Item(String key, String value, long createRevision) {}

  /** Returns the value of a key. */
  Optional<String> get(String key) throws IOException, InterruptedException;

  /** Returns all keys with that prefix, oldest first. */
  List<Item> list(String prefix) throws IOException, InterruptedException;

  /** Sets a key. */
  void put(String key, String value) throws IOException, InterruptedException;
}
