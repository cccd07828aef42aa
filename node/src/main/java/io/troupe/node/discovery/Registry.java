package io.troupe.node.discovery;

import java.io.IOException;
import java.util.List;
import java.util.Optional;

/** The keys of another cluster, as far as a meeting needs them. All reads are linearizable. */
interface Registry {
  /**
   * A key.
   *
   * @param createRevision orders keys by their making
   */
  record Item(String key, String value, long createRevision) {}

  /** The value of a key. */
  Optional<String> get(String key) throws IOException, InterruptedException;

  /** All keys that begin so, oldest first. */
  List<Item> list(String prefix) throws IOException, InterruptedException;

  /** Sets a key. */
  void put(String key, String value) throws IOException, InterruptedException;
}
