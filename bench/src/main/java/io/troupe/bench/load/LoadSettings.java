package io.troupe.bench.load;

import java.time.Duration;
import java.util.List;

/**
 * The common settings of all profiles of a run.
 *
 * @param clients numbers of logical clients, each with one request outstanding
 * @param watchers numbers of watchers of the fan-out profile
 * @param writers of the fan-out profile
 * @param ahead puts that a writer of the fan-out profile may be ahead of the slowest watcher
 * @param maxConnections maximum number of connections that clients share
 * @param keys number of keys
 * @param valueBytes size of each value, 16 or more
 * @param warmUp load before each measurement that is not counted
 * @param duration of each measurement
 * @param rate puts per second of the paced profiles
 * @param history revisions that the profiles compaction and history write first
 * @param open what clients hold open in the profiles lease-expiry and idle-memory
 * @param compactEvery interval of compactions in the profile kubernetes; zero: none
 * @param quietWait maximum wait before each measurement for other programs to become idle
 * @param seed of every random choice
 */
public record LoadSettings(
    List<Integer> clients,
    List<Integer> watchers,
    int writers,
    int ahead,
    int maxConnections,
    int keys,
    int valueBytes,
    Duration warmUp,
    Duration duration,
    int rate,
    int history,
    OpenSizes open,
    Duration compactEvery,
    Duration quietWait,
    long seed) {
  public LoadSettings {
    clients = List.copyOf(clients);
    watchers = List.copyOf(watchers);
    require(clients.stream().allMatch(n -> n >= 1), "--clients: numbers from 1");
    require(watchers.stream().allMatch(n -> n >= 1), "--watchers: numbers from 1");
    require(writers >= 1, "--writers: 1 or more");
    require(ahead >= 1, "--ahead: 1 or more");
    require(maxConnections >= 1, "--connections: 1 or more");
    require(keys >= 1, "--keys: 1 or more");
    int most = keys;
    require(clients.stream().allMatch(n -> n <= most), "--clients: at most as many as --keys");
    require(valueBytes >= 16, "--value-bytes: 16 or more");
    require(!duration.isNegative() && !duration.isZero(), "--duration: more than 0");
    require(!warmUp.isNegative(), "--warm-up: 0 or more");
    require(!compactEvery.isNegative(), "--compact-every: 0 or more");
    require(rate >= 1, "--rate: 1 or more");
    require(history >= 1, "--history: 1 or more");
  }

  /** The same settings for one number of clients, measured at once and for this time. */
  public LoadSettings window(int windowClients, Duration time) {
    return new LoadSettings(
        List.of(windowClients),
        watchers,
        writers,
        ahead,
        maxConnections,
        keys,
        valueBytes,
        Duration.ZERO,
        time,
        rate,
        history,
        open,
        compactEvery,
        quietWait,
        seed);
  }

  private static void require(boolean holds, String message) {
    if (!holds) {
      throw new IllegalArgumentException(message);
    }
  }
}
