package io.troupe.bench.load;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.troupe.bench.client.Connections;
import io.troupe.bench.client.EtcdMethod;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.RangeRequest;
import java.nio.ByteBuffer;

/**
 * The objects of the profile "kubernetes" that exist during the whole load: keys and values. A
 * value starts with the time of its request in System.nanoTime (8 bytes); the rest is random.
 */
final class KubernetesObjects {
  /** Pods that clients create and delete are in this namespace, which has no other objects. */
  static final ByteString CHURN = ByteString.copyFromUtf8("/registry/pods/churn/");

  private static final int NAMESPACES = 50;
  private static final int FILL_CLIENTS = 100;
  private static final int LARGEST = 8192;

  private final int keys;
  private final Values content;

  KubernetesObjects(int keys, long seed) {
    this.keys = keys;
    this.content = new Values(LARGEST, seed);
  }

  /** The objects of a resource, 0 or more. */
  int count(KubernetesResource resource) {
    return resource.count(keys);
  }

  /** The prefix of all objects of a resource. */
  static ByteString prefix(KubernetesResource resource) {
    return ByteString.copyFromUtf8("/registry/" + resource.path() + "/");
  }

  /**
   * The prefix of the objects of a namespaced resource that are in the namespace of {@code object}.
   */
  static ByteString namespace(KubernetesResource resource, int object) {
    return ByteString.copyFromUtf8(
        "/registry/" + resource.path() + "/" + namespaceOf(object) + "/");
  }

  /** The objects of a resource in the namespace of {@code object}. */
  int countInNamespace(KubernetesResource resource, int object) {
    int first = object % NAMESPACES;
    return (count(resource) - first + NAMESPACES - 1) / NAMESPACES;
  }

  /** Key of an object, 0 to {@link #count} - 1. */
  static ByteString key(KubernetesResource resource, int object) {
    String name = resource.path() + "-" + object;
    String place = resource.namespaced() ? namespaceOf(object) + "/" : "";
    return ByteString.copyFromUtf8("/registry/" + resource.path() + "/" + place + name);
  }

  private static String namespaceOf(int object) {
    return "team-" + object % NAMESPACES;
  }

  /** A new value. */
  ByteString value(KubernetesResource resource) {
    long now = System.nanoTime();
    ByteBuffer value = ByteBuffer.allocate(resource.bytes()).putLong(now);
    value.put(content.value(now).substring(0, value.remaining()).asReadOnlyByteBuffer());
    return UnsafeByteOperations.unsafeWrap(value.flip());
  }

  /** Writes the objects that do not exist, and deletes what earlier loads left. */
  void fill(Target target) {
    try (Connections connections = target.connect(FILL_CLIENTS)) {
      Calls.deletePrefix(connections, CHURN);
      Calls.deletePrefix(connections, prefix(KubernetesResource.EVENTS));
      for (KubernetesResource resource : KubernetesResource.values()) {
        ByteString prefix = prefix(resource);
        RangeRequest countOnly =
            RangeRequest.newBuilder()
                .setKey(prefix)
                .setRangeEnd(Calls.afterPrefix(prefix))
                .setCountOnly(true)
                .build();
        if (Calls.range(connections, countOnly).count() != count(resource)) {
          Calls.deletePrefix(connections, prefix);
          ClosedLoop.run(
              connections,
              FILL_CLIENTS,
              new FillKeys(EtcdMethod.PUT, count(resource), i -> put(resource, i)));
        }
      }
    }
  }

  private byte[] put(KubernetesResource resource, int object) {
    return PutRequest.newBuilder()
        .setKey(key(resource, object))
        .setValue(value(resource))
        .build()
        .toByteArray();
  }
}
