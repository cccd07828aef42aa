package io.troupe.bench.load;

import java.util.Arrays;
import java.util.List;

/** The kinds of requests of the profile "kubernetes" that are measured on their own. */
enum KubernetesRequest {
  CREATE(0),
  CREATE_EVENT(1),
  UPDATE(2),
  UPDATE_LEASE(3),
  DELETE(4),
  /** A write whose compare failed because another client wrote the key: expected, and repeated. */
  CONFLICT(5),
  GET(6),
  LIST_100(7),
  LIST_500(8),
  LIST_10000(9),
  COUNT(10),
  LEASE_GRANT(11);

  private final int number;

  KubernetesRequest(int number) {
    this.number = number;
  }

  /** The kind in {@link Workload#kind()}: 0 to 11. */
  int number() {
    return number;
  }

  /** The name in the results. */
  String label() {
    return name().toLowerCase(java.util.Locale.ROOT).replace('_', '-');
  }

  static List<KubernetesRequest> all() {
    return Arrays.asList(values());
  }

  static KubernetesRequest list(int limit) {
    return switch (limit) {
      case 100 -> LIST_100;
      case 500 -> LIST_500;
      case 10_000 -> LIST_10000;
      default -> throw new IllegalArgumentException("no kind of list has the limit " + limit);
    };
  }
}
