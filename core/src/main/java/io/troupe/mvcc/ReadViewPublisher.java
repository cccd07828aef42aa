package io.troupe.mvcc;

/**
 * Publishes the position of the state. Written by the writer alone, after the data is in the store;
 * a compacted revision is published before anything below it is removed.
 */
final class ReadViewPublisher {
  private volatile Published published;

  ReadViewPublisher(Published first) {
    this.published = first;
  }

  ReadView get() {
    return published.view();
  }

  /** The position together with the counts of live keys that belong to it. */
  Published published() {
    return published;
  }

  void set(Published next) {
    published = next;
  }
}
