package io.troupe.bench.load;

/** Names of loads in the results. */
final class Loads {
  private Loads() {}

  static String clients(int clients) {
    return clients == 1 ? "1 client" : clients + " clients";
  }

  static String watchers(int watchers) {
    return watchers == 1 ? "1 watcher" : watchers + " watchers";
  }
}
