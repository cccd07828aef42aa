package io.troupe.testkit;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.maintenance.StatusResponse;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** Calls of jetcd that wait for the response. */
final class TestClient implements AutoCloseable {
  private static final long TIMEOUT_S = 30;

  private final Client client;

  TestClient(List<String> endpoints) {
    client = Client.builder().endpoints(endpoints.toArray(String[]::new)).build();
  }

  TestClient(String endpoint) {
    this(List.of(endpoint));
  }

  Client jetcd() {
    return client;
  }

  static ByteSequence bytes(String text) {
    return ByteSequence.from(text, UTF_8);
  }

  static <T> T await(CompletableFuture<T> response) {
    try {
      return response.get(TIMEOUT_S, TimeUnit.SECONDS);
    } catch (InterruptedException | ExecutionException | TimeoutException e) {
      throw new AssertionError(e);
    }
  }

  void put(String key, String value) {
    await(client.getKVClient().put(bytes(key), bytes(value)));
  }

  /** Returns the values of a key: one, or none. */
  List<String> get(String key) {
    List<KeyValue> found = await(client.getKVClient().get(bytes(key))).getKvs();
    return found.stream().map(each -> each.getValue().toString(UTF_8)).toList();
  }

  /** Returns the index of the leader; fails if there is none. */
  int leader(List<String> endpoints) {
    for (int i = 0; i < endpoints.size(); i++) {
      StatusResponse status = await(client.getMaintenanceClient().statusMember(endpoints.get(i)));
      if (status.getLeader() == status.getHeader().getMemberId()) {
        return i;
      }
    }
    throw new AssertionError("no leader among " + endpoints);
  }

  @Override
  public void close() {
    client.close();
  }
}
