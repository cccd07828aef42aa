package io.troupe.bench.load;

import com.google.protobuf.ByteString;
import io.troupe.bench.client.EtcdMethod;
import io.troupe.bench.client.Reply;
import io.troupe.grpc.api.Compare;
import io.troupe.grpc.api.DeleteRangeRequest;
import io.troupe.grpc.api.LeaseGrantRequest;
import io.troupe.grpc.api.LeaseGrantResponse;
import io.troupe.grpc.api.PutRequest;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.grpc.api.RequestOp;
import io.troupe.grpc.api.TxnRequest;
import io.troupe.grpc.api.TxnResponse;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One client of the profile "kubernetes": draws operations and sends the requests of each in turn.
 * Every operation is checked: a write must succeed or fail because of another write, an object must
 * exist, and a list must have all objects.
 */
final class KubernetesClient implements Workload {
  private static final ByteString ZERO = ByteString.copyFrom(new byte[1]);
  private static final int MOST_PODS = 2;
  private static final KubernetesResource[] OTHERS = {
    KubernetesResource.ENDPOINT_SLICES,
    KubernetesResource.REPLICA_SETS,
    KubernetesResource.DEPLOYMENTS,
    KubernetesResource.CONFIG_MAPS,
    KubernetesResource.SECRETS
  };

  /** Whether the response of a request is right. */
  private interface Check {
    boolean test(ByteString response) throws IOException;
  }

  /** A pod that this client created and has not deleted. */
  private record Pod(ByteString key, long modRevision) {}

  private final KubernetesObjects objects;
  private final EventLeases leases;
  private final LongAdder writes;
  private final int client;
  private final int clients;
  private final SplittableRandom random;
  private final ArrayDeque<Pod> pods = new ArrayDeque<>();
  private boolean deleting;
  private int names;

  private KubernetesRequest kind = KubernetesRequest.GET;
  private EtcdMethod method = EtcdMethod.RANGE_KEEP;
  private Check check = response -> false;
  private boolean unanswered;
  private @Nullable Supplier<byte[]> following;

  /**
   * @param writes counts the writes that the server confirmed; each is one event for each watcher
   * @param client number of this client, 0 to {@code clients} - 1: it renews the leases of the
   *     nodes {@code client}, {@code client + clients}, ...
   */
  KubernetesClient(
      KubernetesObjects objects,
      EventLeases leases,
      LongAdder writes,
      int client,
      int clients,
      SplittableRandom random) {
    this.objects = objects;
    this.leases = leases;
    this.writes = writes;
    this.client = client;
    this.clients = clients;
    this.random = random;
  }

  @Override
  public byte[] next() {
    Supplier<byte[]> request = following;
    if (unanswered) {
      // The last call failed: its operation ends here.
      request = null;
      if (kind == KubernetesRequest.LEASE_GRANT) {
        leases.failed();
      }
    }
    unanswered = true;
    following = null;
    return request == null ? begin(KubernetesOperation.draw(random)) : request.get();
  }

  @Override
  public EtcdMethod method() {
    return method;
  }

  @Override
  public int kind() {
    return kind.number();
  }

  @Override
  public boolean accept(Reply reply) {
    try {
      if (!check.test(reply.body())) {
        return false;
      }
    } catch (IOException e) {
      return false;
    }
    unanswered = false;
    return true;
  }

  /** The first request of an operation. */
  byte[] begin(KubernetesOperation operation) {
    return switch (operation) {
      case UPDATE_LEASE ->
          update(KubernetesRequest.UPDATE_LEASE, KubernetesResource.NODE_LEASES, own());
      case UPDATE_POD -> update(KubernetesResource.PODS);
      case UPDATE_NODE -> update(KubernetesResource.NODES);
      case UPDATE_OTHER -> update(OTHERS[random.nextInt(OTHERS.length)]);
      case CREATE_EVENT -> createEvent();
      case CREATE_OR_DELETE_POD -> createOrDeletePod();
      case GET -> {
        KubernetesResource resource = any();
        yield get(KubernetesObjects.key(resource, object(resource)), modRevision -> {});
      }
      case LIST_NAMESPACE -> {
        KubernetesResource resource = anyNamespaced();
        int object = object(resource);
        yield list(
            KubernetesObjects.namespace(resource, object),
            100,
            objects.countInNamespace(resource, object));
      }
      case LIST_RESOURCE -> {
        KubernetesResource resource = any();
        yield list(KubernetesObjects.prefix(resource), 500, objects.count(resource));
      }
      case LIST_PODS ->
          list(
              KubernetesObjects.prefix(KubernetesResource.PODS),
              10_000,
              objects.count(KubernetesResource.PODS));
      case COUNT -> count(any());
    };
  }

  private int object(KubernetesResource resource) {
    return random.nextInt(objects.count(resource));
  }

  /** A node of this client. */
  private int own() {
    int nodes = objects.count(KubernetesResource.NODE_LEASES);
    int mine = Math.max(1, (nodes - client + clients - 1) / clients);
    return (client + clients * random.nextInt(mine)) % nodes;
  }

  private KubernetesResource any() {
    KubernetesResource[] all = KubernetesResource.values();
    // The last one, events, has no lasting objects.
    return all[random.nextInt(all.length - 1)];
  }

  private KubernetesResource anyNamespaced() {
    KubernetesResource resource = any();
    return resource.namespaced() ? resource : KubernetesResource.PODS;
  }

  private interface Found {
    void at(long modRevision);
  }

  private byte[] get(ByteString key, Found found) {
    kind = KubernetesRequest.GET;
    method = EtcdMethod.RANGE_KEEP;
    check =
        response -> {
          RangeReply reply = RangeReply.read(response);
          found.at(reply.lastModRevision());
          return reply.keys() == 1 && reply.lastKey().equals(key);
        };
    return RangeRequest.newBuilder().setKey(key).setLimit(1).build().toByteArray();
  }

  private byte[] update(KubernetesResource resource) {
    return update(KubernetesRequest.UPDATE, resource, object(resource));
  }

  private byte[] update(KubernetesRequest as, KubernetesResource resource, int object) {
    ByteString key = KubernetesObjects.key(resource, object);
    return get(key, modRevision -> following = () -> write(as, resource, key, modRevision));
  }

  private byte[] write(
      KubernetesRequest as, KubernetesResource resource, ByteString key, long modRevision) {
    kind = as;
    method = EtcdMethod.TXN_KEEP;
    check =
        response -> {
          TxnResponse reply = TxnResponse.parseFrom(response);
          if (reply.getSucceeded()) {
            writes.increment();
            return true;
          }
          kind = KubernetesRequest.CONFLICT;
          // The object that another client wrote; lasting objects are never deleted.
          long current = reply.getResponses(0).getResponseRange().getKvs(0).getModRevision();
          following = () -> write(as, resource, key, current);
          return current > modRevision;
        };
    return ifUnchanged(key, modRevision)
        .addSuccess(put(resource, key, 0))
        .addFailure(RequestOp.newBuilder().setRequestRange(RangeRequest.newBuilder().setKey(key)))
        .build()
        .toByteArray();
  }

  private static TxnRequest.Builder ifUnchanged(ByteString key, long modRevision) {
    return TxnRequest.newBuilder()
        .addCompare(
            Compare.newBuilder()
                .setResult(Compare.CompareResult.EQUAL)
                .setTarget(Compare.CompareTarget.MOD)
                .setKey(key)
                .setModRevision(modRevision));
  }

  private RequestOp put(KubernetesResource resource, ByteString key, long lease) {
    return RequestOp.newBuilder()
        .setRequestPut(
            PutRequest.newBuilder().setKey(key).setValue(objects.value(resource)).setLease(lease))
        .build();
  }

  private byte[] create(
      KubernetesRequest as,
      KubernetesResource resource,
      ByteString key,
      long lease,
      Found created) {
    kind = as;
    method = EtcdMethod.TXN_KEEP;
    check =
        response -> {
          TxnResponse reply = TxnResponse.parseFrom(response);
          if (reply.getSucceeded()) {
            writes.increment();
            created.at(reply.getHeader().getRevision());
          }
          return reply.getSucceeded();
        };
    return ifUnchanged(key, 0).addSuccess(put(resource, key, lease)).build().toByteArray();
  }

  private byte[] createEvent() {
    long lease = leases.use(System.nanoTime());
    if (lease == 0) {
      return grant();
    }
    ByteString key =
        KubernetesObjects.namespace(KubernetesResource.EVENTS, random.nextInt(1000)).concat(name());
    return create(KubernetesRequest.CREATE_EVENT, KubernetesResource.EVENTS, key, lease, at -> {});
  }

  private byte[] grant() {
    kind = KubernetesRequest.LEASE_GRANT;
    method = EtcdMethod.LEASE_GRANT;
    check =
        response -> {
          long id = LeaseGrantResponse.parseFrom(response).getID();
          if (id == 0) {
            return false;
          }
          leases.granted(id, System.nanoTime());
          following = this::createEvent;
          return true;
        };
    return LeaseGrantRequest.newBuilder().setTTL(EventLeases.TTL_SECONDS).build().toByteArray();
  }

  private ByteString name() {
    return ByteString.copyFromUtf8(client + "-" + names++);
  }

  private byte[] createOrDeletePod() {
    if (pods.isEmpty()) {
      deleting = false;
    } else if (pods.size() >= MOST_PODS) {
      deleting = true;
    }
    if (deleting) {
      return deletePod(pods.removeFirst());
    }
    ByteString key = KubernetesObjects.CHURN.concat(name());
    return create(
        KubernetesRequest.CREATE,
        KubernetesResource.PODS,
        key,
        0,
        revision -> pods.addLast(new Pod(key, revision)));
  }

  private byte[] deletePod(Pod pod) {
    kind = KubernetesRequest.DELETE;
    method = EtcdMethod.TXN_KEEP;
    check =
        response -> {
          TxnResponse reply = TxnResponse.parseFrom(response);
          boolean deleted =
              reply.getSucceeded()
                  && reply.getResponses(0).getResponseDeleteRange().getDeleted() == 1;
          if (deleted) {
            writes.increment();
          }
          return deleted;
        };
    return ifUnchanged(pod.key(), pod.modRevision())
        .addSuccess(
            RequestOp.newBuilder()
                .setRequestDeleteRange(DeleteRangeRequest.newBuilder().setKey(pod.key())))
        .addFailure(
            RequestOp.newBuilder().setRequestRange(RangeRequest.newBuilder().setKey(pod.key())))
        .build()
        .toByteArray();
  }

  private byte[] list(ByteString prefix, int limit, int least) {
    return page(prefix, prefix, limit, 0, least);
  }

  /**
   * One page of a list.
   *
   * @param revision 0: the current one, for the first page
   * @param missing objects that this page and those after it must have at least
   */
  private byte[] page(ByteString from, ByteString prefix, int limit, long revision, int missing) {
    kind = KubernetesRequest.list(limit);
    method = EtcdMethod.RANGE_KEEP;
    check =
        response -> {
          RangeReply reply = RangeReply.read(response);
          int left = missing - reply.keys();
          if (!reply.more()) {
            return left <= 0;
          }
          long pinned = revision == 0 ? reply.revision() : revision;
          ByteString next = reply.lastKey().concat(ZERO);
          following = () -> page(next, prefix, limit, pinned, left);
          return reply.keys() == limit && reply.count() > limit;
        };
    return RangeRequest.newBuilder()
        .setKey(from)
        .setRangeEnd(Calls.afterPrefix(prefix))
        .setLimit(limit)
        .setRevision(revision)
        .build()
        .toByteArray();
  }

  private byte[] count(KubernetesResource resource) {
    kind = KubernetesRequest.COUNT;
    method = EtcdMethod.RANGE_KEEP;
    check = response -> RangeReply.read(response).count() >= objects.count(resource);
    ByteString prefix = KubernetesObjects.prefix(resource);
    return RangeRequest.newBuilder()
        .setKey(prefix)
        .setRangeEnd(Calls.afterPrefix(prefix))
        .setCountOnly(true)
        .build()
        .toByteArray();
  }
}
