package io.troupe.bench.load;

import io.troupe.bench.client.Connections;
import io.troupe.bench.report.Cell;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;

/** The profile "kubernetes": what apiservers send, with a measurement for each kind of request. */
final class KubernetesProfile {
  static final String NAME = "kubernetes";

  private KubernetesProfile() {}

  /**
   * Writes the objects that exist before the load; those that exist already are left as they are.
   */
  static void fill(Target target) {
    objects(target).fill(target);
  }

  private static KubernetesObjects objects(Target target) {
    return new KubernetesObjects(target.settings().keys(), target.settings().seed());
  }

  /**
   * Measures one number of clients.
   *
   * @return all requests together, then each kind that occurred, then the events of the watchers
   */
  static List<Cell> measure(Target target, int clients) {
    KubernetesObjects objects = objects(target);
    objects.fill(target);
    long from;
    EventLeases leases;
    try (Connections connection = target.connect(1)) {
      from = Calls.revision(connection) + 1;
      leases = new EventLeases(Calls.grant(connection, EventLeases.TTL_SECONDS), System.nanoTime());
    }
    target.awaitQuiet();
    Duration warmUp = target.settings().warmUp();
    // The watchers are created first, and must know the window.
    Duration creation = Duration.ofMillis(50);
    Window window = Window.after(warmUp.plus(creation), target.settings().duration());
    LongAdder writes = new LongAdder();
    try (Connections connections = target.connect(clients);
        KubernetesWatches watches = KubernetesWatches.open(target, from, window);
        KubernetesCompactor compactor = KubernetesCompactor.start(target)) {
      ClosedLoop loop =
          ClosedLoop.start(
              connections,
              KubernetesRequest.values().length,
              clients,
              window,
              i ->
                  new KubernetesClient(
                      objects,
                      leases,
                      writes,
                      i,
                      clients,
                      new SplittableRandom(target.settings().seed() + i)));
      Window.waitUntil(window.from());
      Meter.Sample begin = target.meter().sample();
      Window.waitUntil(window.until());
      Meter.Sample end = target.meter().sample();
      loop.await();
      watches.awaitEvents(writes.sum());
      return cells(target.meter(), clients, loop, watches, begin, end);
    }
  }

  private static List<Cell> cells(
      Meter meter,
      int clients,
      ClosedLoop loop,
      KubernetesWatches watches,
      Meter.Sample begin,
      Meter.Sample end) {
    String load = Loads.clients(clients);
    List<Recorder> all = loop.recorders();
    List<Cell> cells = new ArrayList<>();
    cells.add(meter.cell(NAME, load, Recorder.count(all), all, begin, end));
    for (KubernetesRequest kind : KubernetesRequest.all()) {
      List<Recorder> recorders = loop.recorders(kind.number());
      if (Recorder.count(recorders) + Recorder.errors(recorders) > 0) {
        cells.add(
            meter.part(
                NAME,
                load + ", " + kind.label(),
                Recorder.count(recorders),
                recorders,
                begin,
                end));
      }
    }
    cells.add(
        meter.part(NAME, load + ", events", watches.inWindow(), watches.recorders(), begin, end));
    return cells;
  }
}
