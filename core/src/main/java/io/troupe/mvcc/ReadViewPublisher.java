package io.troupe.mvcc;

/**
 * Publishes the position of the state. Written by the writer alone, after the data is in the store;
 * a compacted revision is published before anything below it is removed.
 */
final class ReadViewPublisher {
  private volatile ReadView view;

  ReadViewPublisher(ReadView first) {
    this.view = first;
  }

  ReadView get() {
    return view;
  }

  void set(ReadView next) {
    view = next;
  }
}
