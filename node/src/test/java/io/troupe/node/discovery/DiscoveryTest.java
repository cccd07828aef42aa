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

/** DI1, DI2. */
class DiscoveryTest {
  private static final String ROOT = "/_etcd/registry/t0/";
  private static final String OWN = "n1=http://a:1,n1=http://a:2";

  /** Keys in memory, with failures. */
  private static class Fake implements Registry {
    final Map<String, Item> items = new TreeMap<>();
    long revision;
    int failures;

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
      fail();
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

  private String join() throws InterruptedException {
    return new Discovery(
            registry,
            "t0",
            time -> {
              pauses.add(time);
              whenPaused.run();
            })
        .join("8e9e", OWN);
  }

  private void put(String key, String value) {
    try {
      registry.put(ROOT + key, value);
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void theFirstOnesAreTheClusterInTheOrderInWhichTheyCame() throws Exception {
    put("_config/size", "3");
    put("members/ff", "n3=http://c:1");
    whenPaused = () -> put("members/1", "n2=http://b:1");
    assertThat(join()).isEqualTo("n3=http://c:1," + OWN + ",n2=http://b:1");
    assertThat(registry.items.get(ROOT + "members/8e9e")).extracting(Registry.Item::value).isEqualTo(OWN);
    assertThat(pauses).hasSize(1);
  }

  @Test
  void whoComesAgainHasItsPlace() throws Exception {
    put("_config/size", "1");
    put("members/8e9e", OWN);
    put("members/1", "n2=http://b:1");
    assertThat(join()).isEqualTo(OWN);
  }

  @Test
  void whoComesTooLateIsRefusedAndWritesNothing() {
    put("_config/size", "1");
    put("members/1", "n2=http://b:1");
    assertThatThrownBy(this::join)
        .isInstanceOf(DiscoveryException.class)
        .hasMessage("discovery: cluster is full");
    assertThat(registry.items).doesNotContainKey(ROOT + "members/8e9e");
  }

  /** Two come at once for the last place: the second sees it when it has written itself down. */
  @Test
  void whoIsOvertakenIsRefused() {
    put("_config/size", "2");
    put("members/1", "n2=http://b:1");
    Fake overtaken =
        new Fake() {
          @Override
          public void put(String key, String value) throws IOException {
            super.put(ROOT + "members/2", "n4=http://d:1");
            super.put(key, value);
          }
        };
    overtaken.items.putAll(registry.items);
    overtaken.revision = registry.revision;
    assertThatThrownBy(() -> new Discovery(overtaken, "t0", time -> {}).join("8e9e", OWN))
        .hasMessage("discovery: cluster is full");
  }

  @Test
  void withoutASizeThereIsNoMeeting() {
    assertThatThrownBy(this::join).hasMessage("discovery: size key not found");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "three", "0", "-1", "99999999999"})
  void aSizeIsANumberAboveZero(String size) {
    put("_config/size", size);
    assertThatThrownBy(this::join).hasMessage("discovery: size key is bad");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "n2", "=http://b:1", "n2=b:1", "n2=http://b:1,", "n2=http://b:1/x"})
  void nonsenseOfOthersIsRefused(String value) {
    put("_config/size", "2");
    put("members/1", value);
    assertThatThrownBy(this::join).hasMessageStartingWith("discovery: invalid peer URL");
  }

  @Test
  void anEndpointThatIsDownIsAskedAgainWithGrowingPauses() throws Exception {
    put("_config/size", "1");
    registry.failures = 10;
    whenPaused = () -> {};
    assertThat(join()).isEqualTo(OWN);
    assertThat(pauses)
        .extracting(Duration::toSeconds)
        .containsExactly(1L, 2L, 4L, 8L, 16L, 32L, 64L, 128L, 256L, 256L);
  }
}
