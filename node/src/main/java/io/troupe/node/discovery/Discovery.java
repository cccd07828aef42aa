package io.troupe.node.discovery;

import io.troupe.node.discovery.Registry.Item;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A first member's way to the others through a registry (DI1, DI2): it writes itself down, waits
 * until there are as many as the operator said, and begins with the first of them.
 *
 * @source etcd, discovery protocol v3: keys under /_etcd/registry/TOKEN
 */
public final class Discovery {
  private static final Logger LOG = LoggerFactory.getLogger(Discovery.class);
  private static final String ROOT = "/_etcd/registry/";

  /** Between two looks for members that are still to come. */
  private static final Duration LOOK_AGAIN = Duration.ofSeconds(1);

  /** Of the time between two tries, which doubles each time. */
  private static final int MAX_DOUBLINGS = 8;

  /** How time passes. */
  interface Pause {
    void of(Duration time) throws InterruptedException;
  }

  private interface Call<T> {
    T run() throws IOException, InterruptedException;
  }

  private final Registry registry;
  private final String token;
  private final Pause pause;

  Discovery(Registry registry, String token, Pause pause) {
    this.registry = registry;
    this.token = token;
    this.pause = pause;
  }

  /**
   * Finds the first members. Waits for as long as they take; an endpoint that does not answer is
   * asked again, with growing pauses.
   *
   * @param memberId of this member, lower hex
   * @param config this member as a value of initial-cluster: {@code name=url}, with commas between
   *     several
   * @return all first members in that form, this one among them
   * @throws DiscoveryException if there is no such meeting, it is full, or somebody wrote nonsense
   * @throws io.troupe.node.tls.TlsException if certificates or keys cannot be used
   */
  public static String join(DiscoverySettings settings, String memberId, String config)
      throws InterruptedException {
    LOG.info("discovery begins {}", settings);
    Discovery discovery =
        new Discovery(
            new HttpRegistry(settings),
            settings.token(),
            time -> TimeUnit.MILLISECONDS.sleep(time.toMillis()));
    return discovery.join(memberId, config);
  }

  String join(String memberId, String config) throws InterruptedException {
    int size = size();
    String own = members() + memberId;
    requirePlace(list(), size, own);
    retried(
        () -> {
          registry.put(own, config);
          return true;
        });
    int told = 0;
    while (true) {
      List<Item> found = list();
      requirePlace(found, size, own);
      if (found.size() >= size) {
        String cluster =
            found.subList(0, size).stream().map(Discovery::checked).collect(Collectors.joining(","));
        LOG.info("discovery has found all first members initial-cluster={}", cluster);
        return cluster;
      }
      if (found.size() != told) {
        told = found.size();
        LOG.info("discovery waits for other members found={} needed={}", told, size);
      }
      pause.of(LOOK_AGAIN);
    }
  }

  private String members() {
    return ROOT + token + "/members/";
  }

  private int size() throws InterruptedException {
    String text =
        retried(() -> registry.get(ROOT + token + "/_config/size"))
            .orElseThrow(() -> new DiscoveryException("discovery: size key not found"));
    try {
      int size = Integer.parseInt(text);
      if (size > 0) {
        return size;
      }
    } catch (NumberFormatException none) {
      LOG.debug("the size is no number: {}", text);
    }
    throw new DiscoveryException("discovery: size key is bad");
  }

  private List<Item> list() throws InterruptedException {
    return retried(() -> registry.list(members()));
  }

  /** Whoever comes too late must not wait for ever. */
  private static void requirePlace(List<Item> found, int size, String own) {
    if (found.size() >= size
        && found.subList(0, size).stream().noneMatch(item -> item.key().equals(own))) {
      throw new DiscoveryException("discovery: cluster is full");
    }
  }

  private static String checked(Item member) {
    for (String part : member.value().split(",", -1)) {
      int equals = part.indexOf('=');
      if (equals <= 0 || !part.substring(equals + 1).matches("https?://[^/,=]+")) {
        throw new DiscoveryException(
            "discovery: invalid peer URL: " + member.key() + " = " + member.value());
      }
    }
    return member.value();
  }

  private <T> T retried(Call<T> call) throws InterruptedException {
    int failures = 0;
    while (true) {
      try {
        return call.run();
      } catch (IOException down) {
        Duration wait = Duration.ofSeconds(1L << Math.min(failures, MAX_DOUBLINGS));
        LOG.warn("discovery fails, trying again in={} error={}", wait, down.toString());
        failures++;
        pause.of(wait);
      }
    }
  }
}
