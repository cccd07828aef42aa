package io.troupe.bench.load;

/**
 * The resources of the profile "kubernetes". A cluster of the supported maximum has 30 pods per
 * node; the other numbers are those of a cluster whose applications have five replicas.
 */
enum KubernetesResource {
  PODS("pods", 4608, 60, true),
  NODES("minions", 8192, 2, false),
  NODE_LEASES("leases", 300, 2, true),
  ENDPOINT_SLICES("endpointslices", 2048, 8, true),
  REPLICA_SETS("replicasets", 1536, 8, true),
  DEPLOYMENTS("deployments", 2048, 8, true),
  CONFIG_MAPS("configmaps", 1024, 6, true),
  SECRETS("secrets", 512, 6, true),
  EVENTS("events", 700, 0, true);

  private final String path;
  private final int bytes;
  private final int percent;
  private final boolean namespaced;

  KubernetesResource(String path, int bytes, int percent, boolean namespaced) {
    this.path = path;
    this.bytes = bytes;
    this.percent = percent;
    this.namespaced = namespaced;
  }

  /** The part of the keys after /registry/. */
  String path() {
    return path;
  }

  /** Size of an object's value. */
  int bytes() {
    return bytes;
  }

  /** Whether the keys contain a namespace. */
  boolean namespaced() {
    return namespaced;
  }

  /** The objects that exist before the load, of {@code keys} in total. */
  int count(int keys) {
    return percent == 0 ? 0 : Math.max(1, (int) ((long) keys * percent / 100));
  }
}
