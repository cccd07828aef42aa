package io.troupe.node.discovery;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Registration of the first members (DI1, DI2). */
class DiscoveryTest {
  private static final String ROOT = "/_etcd/registry/t0/";
  private static final String OWN = "n1=http://a:1,n1=http://a:2";

  /** Keys in memory, with injected failures. */
  private static final class Fake implements Registry {
    final Map<String, Item> items = new TreeMap<>();
    long revision;
    int failures;
    Runnable beforePut = () -> {};

    private void fail() throws IOException {
      if (failures > 0) {
        failures--;
        throw new IOException("down");
      }
    }

    @Override
    public Optional<String> get(String key) throws IOException {
      fail();
      return Optional.ofNullable(items.get(key)).map(Item::value);
    }

    @Override
    public List<Item> list(String prefix) throws IOException {
      fail();
      return items.values().stream()
          .filter(item -> item.key().startsWith(prefix))
          .sorted(Comparator.comparing(Item::createRevision))
          .toList();
    }

    @Override
    public void put(String key, String value) throws IOException {
      beforePut.run();
      fail();
      write(key, value);
    }

    void write(String key, String value) {
      Item before = items.get(key);
      items.put(key, new Item(key, value, before == null ? ++revision : before.createRevision()));
    }
  }

  private final Fake registry = new Fake();
  private final List<Duration> pauses = new ArrayList<>();
  private Runnable whenPaused =
      () -> {
        throw new AssertionError("waits");
      };

  private Map<String, List<String>> join() throws InterruptedException {
    return discovery(Integer.MAX_VALUE).join("8e9e", OWN);
  }

  private Discovery discovery(int maxRetries) {
    return new Discovery(
        registry,
        "t0",
        time -> {
          pauses.add(time);
          whenPaused.run();
        },
        maxRetries);
  }

  private void put(String key, String value) {
    registry.write(ROOT + key, value);
  }

  @Test
  void firstRegistrantsFormClusterInOrder() throws Exception {
    put("_config/size", "3");
    put("members/ff", "n3=http://c:1");
    whenPaused = () -> put("members/1", "n2=http://b:1");
    assertThat(join())
        .containsExactly(
            Map.entry("n3", List.of("http://c:1")),
            Map.entry("n1", List.of("http://a:1", "http://a:2")),
            Map.entry("n2", List.of("http://b:1")));
    assertThat(registry.items.get(ROOT + "members/8e9e"))
        .extracting(Registry.Item::value)
        .isEqualTo(OWN);
    assertThat(pauses).containsExactly(Duration.ofSeconds(1));
  }

  @Test
  void repeatedRegistrationKeepsPosition() throws Exception {
    put("_config/size", "1");
    put("members/8e9e", OWN);
    put("members/1", "n2=http://b:1");
    assertThat(join()).containsOnlyKeys("n1");
  }

  @Test
  void lateRegistrationIsRefusedAndWritesNothing() {
    put("_config/size", "1");
    put("members/1", "n2=http://b:1");
    assertThatThrownBy(this::join)
        .isInstanceOf(DiscoveryException.class)
        .hasMessage("discovery: cluster is full");
    assertThat(registry.items).doesNotContainKey(ROOT + "members/8e9e");
  }

  /**
   * Two members register for the last position: the second one notices it after its registration.
   */
  @Test
  void overtakenRegistrationIsRefused() {
    put("_config/size", "2");
    put("members/1", "n2=http://b:1");
    registry.beforePut = () -> put("members/2", "n4=http://d:1");
    assertThatThrownBy(this::join).hasMessage("discovery: cluster is full");
    assertThat(registry.items).containsKey(ROOT + "members/8e9e");
  }

  /** The key of an earlier member is deleted while this one waits: its position is free again. */
  @Test
  void deletedRegistrationFreesPosition() throws Exception {
    put("_config/size", "2");
    put("members/1", "n2=http://wrong:1");
    whenPaused = () -> put("members/2", "n2=http://b:1");
    registry.beforePut = () -> registry.items.remove(ROOT + "members/1");
    assertThat(join())
        .containsExactly(
            Map.entry("n1", List.of("http://a:1", "http://a:2")),
            Map.entry("n2", List.of("http://b:1")));
  }

  @Test
  void missingSizeFailsDiscovery() {
    assertThatThrownBy(this::join)
        .isInstanceOf(DiscoveryException.class)
        .hasMessage("discovery: size key not found");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "three", "0", "-1", "99999999999"})
  void sizeMustBePositiveNumber(String size) {
    put("_config/size", size);
    assertThatThrownBy(this::join).hasMessage("discovery: size key is bad");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "=http://b:1",
        "n2=b:1",
        "n2=http://b",
        "n2=http://b:1,",
        "n2=http://b:1/x",
        "n2=http://u@b:1",
        "n2=http://b:1?x",
        "n2=http://b:99999",
        "n2=unix://b:1",
        "n2=http://b:1,n3=http://c:1"
      })
  void invalidRegistrationOfPeerIsRefused(String value) {
    put("_config/size", "2");
    put("members/1", value);
    assertThatThrownBy(this::join)
        .isInstanceOf(DiscoveryException.class)
        .hasMessage("discovery: invalid peer URL: " + ROOT + "members/1 = " + value);
  }

  /** As in etcd: such a key can name no member. */
  @ParameterizedTest
  @ValueSource(strings = {"", "n2"})
  void keyThatIsNoMemberTakesNoPosition(String value) throws Exception {
    put("_config/size", "1");
    put("members/1", value);
    assertThat(join()).containsOnlyKeys("n1");
  }

  @Test
  void duplicateMemberIsRefused() {
    put("_config/size", "2");
    put("members/1", "n1=http://b:1");
    assertThatThrownBy(this::join)
        .isInstanceOf(DiscoveryException.class)
        .hasMessageStartingWith("discovery: several members are called \"n1\"");
    put("members/1", "n2=http://a:2");
    assertThatThrownBy(this::join)
        .isInstanceOf(DiscoveryException.class)
        .hasMessageStartingWith("discovery cluster")
        .hasMessageEndingWith("has duplicate url http://a:2");
  }

  @Test
  void unavailableEndpointIsRetriedWithGrowingDelays() throws Exception {
    put("_config/size", "1");
    registry.failures = 10;
    whenPaused = () -> {};
    assertThat(join()).containsOnlyKeys("n1");
    assertThat(pauses)
        .extracting(Duration::toSeconds)
        .containsExactly(2L, 4L, 8L, 16L, 32L, 64L, 128L, 256L, 256L, 256L);
  }

  @Test
  void retriesEndAfterTimeout() {
    put("_config/size", "1");
    registry.failures = 3;
    whenPaused = () -> {};
    assertThatThrownBy(() -> discovery(2).join("8e9e", OWN))
        .isInstanceOf(DiscoveryException.class)
        .hasMessage("discovery: too many retries");
    assertThat(pauses).hasSize(2);
  }

  /** Each call has its own retries: earlier failures do not count. */
  @Test
  void responseResetsRetryCount() throws Exception {
    put("_config/size", "1");
    registry.failures = 2;
    registry.beforePut =
        () -> {
          registry.failures = 2;
          registry.beforePut = () -> {};
        };
    whenPaused = () -> {};
    assertThat(discovery(2).join("8e9e", OWN)).containsOnlyKeys("n1");
    assertThat(pauses).extracting(Duration::toSeconds).containsExactly(2L, 4L, 2L, 4L);
  }
}
