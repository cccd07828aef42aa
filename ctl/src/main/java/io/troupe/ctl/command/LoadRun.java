package io.troupe.ctl.command;

import io.troupe.ctl.client.EtcdClient;
import io.troupe.ctl.client.EtcdMethods;
import io.troupe.ctl.client.RpcException;
import io.troupe.grpc.api.PutRequest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;

/** Puts from many clients, one request of each at a time, and their statistics. */
final class LoadRun {
  /**
   * Statistics of the successful requests.
   *
   * @param count of successful requests
   * @param perSecond successful requests for each second
   * @param slowest seconds
   * @param deviation standard deviation in seconds
   * @param errors number of failures for each text
   */
  record Result(
      int count, double perSecond, double slowest, double deviation, Map<String, Integer> errors) {

    static Result of(double[] seconds, double total, Map<String, Integer> errors) {
      double mean = Arrays.stream(seconds).average().orElse(0);
      double variance =
          Arrays.stream(seconds).map(s -> (s - mean) * (s - mean)).average().orElse(0);
      return new Result(
          seconds.length,
          total > 0 ? seconds.length / total : 0,
          Arrays.stream(seconds).max().orElse(0),
          Math.sqrt(variance),
          errors);
    }
  }

  /** An empty element ends a client. */
  private final BlockingQueue<Optional<PutRequest>> requests;

  private final List<Thread> threads = new ArrayList<>();
  private final List<Double> seconds = new ArrayList<>();
  private final Map<String, Integer> errors = new TreeMap<>();
  private final Progress progress;
  private final boolean countRequests;
  private final long start = System.nanoTime();

  /**
   * @param countRequests whether each response is a step of {@code progress}
   */
  LoadRun(List<EtcdClient> clients, Progress progress, boolean countRequests) {
    this.requests = new ArrayBlockingQueue<>(clients.size());
    this.progress = progress;
    this.countRequests = countRequests;
    for (EtcdClient client : clients) {
      Thread thread = new Thread(null, () -> work(client), "load", 1 << 18);
      thread.setDaemon(true);
      threads.add(thread);
      thread.start();
    }
  }

  private void work(EtcdClient client) {
    try {
      for (var next = requests.take(); next.isPresent(); next = requests.take()) {
        long begin = System.nanoTime();
        String error = "";
        try {
          var unused = client.call(EtcdMethods.PUT, next.get());
        } catch (RpcException e) {
          error = String.valueOf(e.getMessage());
        }
        record(System.nanoTime() - begin, error);
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private synchronized void record(long nanos, String error) {
    if (error.isEmpty()) {
      seconds.add(nanos / 1e9);
    } else {
      errors.merge(error, 1, Integer::sum);
    }
    if (countRequests) {
      progress.add(1);
    }
  }

  /** Waits for a free client and passes the request to it. */
  void put(PutRequest request) throws InterruptedException {
    requests.put(Optional.of(request));
  }

  /** Waits until all requests have responses. */
  Result finish() throws InterruptedException {
    for (int i = 0; i < threads.size(); i++) {
      requests.put(Optional.empty());
    }
    for (Thread thread : threads) {
      thread.join();
    }
    synchronized (this) {
      double[] all = seconds.stream().mapToDouble(Double::doubleValue).toArray();
      return Result.of(all, (System.nanoTime() - start) / 1e9, new TreeMap<>(errors));
    }
  }

  /** Waits so that request number {@code number} is not sent before its time. */
  static void pace(long start, long number, int perSecond) throws InterruptedException {
    long due = start + TimeUnit.SECONDS.toNanos(1) * number / perSecond;
    long wait = due - System.nanoTime();
    if (wait > 0) {
      TimeUnit.NANOSECONDS.sleep(wait);
    }
  }
}
