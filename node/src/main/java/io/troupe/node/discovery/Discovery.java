package io.troupe.node.discovery;

import io.troupe.node.discovery.Registry.Item;
import java.io.IOException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Finds the initial members through a registry (DI1, DI2): a member registers itself, waits until
 * the configured number of members has registered, and forms a cluster with the first of them.
 *
 * @source etcd, discovery protocol v3: keys under /_etcd/registry/TOKEN
 */
public final class Discovery {
  private static final Logger LOG = LoggerFactory.getLogger(Discovery.class);
  private static final String ROOT = "/_etcd/registry/";

  /** Interval between two reads of the registry while members are missing. */
  private static final Duration LOOK_AGAIN = Duration.ofSeconds(1);

  /** Maximum doublings of the time between two attempts: 2, 4, 8 ... 256 s. */
  private static final int MAX_DOUBLINGS = 8;

  /** In effect unlimited, as in etcd: a member waits for the other members forever. */
  private static final int MAX_RETRIES = Integer.MAX_VALUE;

  /** Sleeps. Tests replace it. */
  interface Pause {
    void of(Duration time) throws InterruptedException;
  }

  private interface Call<T> {
    T run() throws IOException, InterruptedException;
  }

  private final Registry registry;
  private final String token;
  private final Pause pause;
  private final int maxRetries;
  private final Set<String> passedOver = new HashSet<>();

  /**
   * Creates the discovery through a registry.
   *
   * @param maxRetries retries of one call before it fails
   */
  Discovery(Registry registry, String token, Pause pause, int maxRetries) {
    this.registry = registry;
    this.token = token;
    this.pause = pause;
    this.maxRetries = maxRetries;
  }

  /**
   * Finds the initial members. Waits without a limit until all have registered; a failed request is
   * repeated, with growing pauses. Stops if its thread is interrupted.
   *
   * @param memberId id of this member, lower hex
   * @param config this member as a value of initial-cluster: {@code name=url}, with commas between
   *     several
   * @return all initial members, name to peer URLs, in the order of their registration; this one
   *     among them
   * @throws DiscoveryException if the token is unknown, its cluster is full, the registry contains
   *     invalid data, or the login is refused
   * @throws io.troupe.node.tls.TlsException if certificates or keys cannot be used
   */
  public static Map<String, List<String>> join(
      DiscoverySettings settings, String memberId, String config) throws InterruptedException {
    LOG.info("starting discovery {}", settings);
    Discovery discovery =
        new Discovery(
            new HttpRegistry(settings),
            settings.token(),
            time -> TimeUnit.MILLISECONDS.sleep(time.toMillis()),
            MAX_RETRIES);
    return discovery.join(memberId, config);
  }

  Map<String, List<String>> join(String memberId, String config) throws InterruptedException {
    int size = size();
    String own = members() + memberId;
    requirePlace(list(), size, own);
    retried(
        "register member itself",
        () -> {
          registry.put(own, config);
          return true;
        });
    int told = 0;
    while (true) {
      List<Item> found = list();
      requirePlace(found, size, own);
      if (found.size() >= size) {
        List<FoundMember> first = found.subList(0, size).stream().map(FoundMember::of).toList();
        Map<String, List<String>> cluster = FoundMember.cluster(first);
        LOG.info("discovery found all initial members initial-cluster={}", cluster);
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
    Optional<String> text =
        retried("get the cluster's size", () -> registry.get(ROOT + token + "/_config/size"));
    try {
      int size =
          Integer.parseInt(
              text.orElseThrow(() -> new DiscoveryException("discovery: size key not found")));
      if (size > 0) {
        return size;
      }
    } catch (NumberFormatException none) {
      LOG.debug("discovery size is not a number value={}", text);
    }
    throw new DiscoveryException("discovery: size key is bad");
  }

  /** As in etcd, a registered value that is not a member takes no place. */
  private List<Item> list() throws InterruptedException {
    List<Item> all = retried("cluster status check", () -> registry.list(members()));
    return all.stream().filter(this::isMember).toList();
  }

  private boolean isMember(Item item) {
    boolean is = item.value().indexOf('=') >= 0;
    if (!is && passedOver.add(item.key())) {
      LOG.warn(
          "invalid peer info returned from discovery service key={} value={}",
          item.key(),
          item.value());
    }
    return is;
  }

  /** A member that registers too late must fail instead of waiting forever. */
  private void requirePlace(List<Item> found, int size, String own) {
    if (found.size() >= size
        && found.subList(0, size).stream().noneMatch(item -> item.key().equals(own))) {
      LOG.warn("do not reuse discovery token; generate a new one to bootstrap a cluster");
      throw new DiscoveryException("discovery: cluster is full");
    }
  }

  private <T> T retried(String step, Call<T> call) throws InterruptedException {
    int retries = 0;
    while (true) {
      try {
        return call.run();
      } catch (IOException down) {
        if (retries >= maxRetries) {
          throw new DiscoveryException("discovery: too many retries");
        }
        retries++;
        Duration wait = Duration.ofSeconds(1L << Math.min(retries, MAX_DOUBLINGS));
        LOG.warn(
            "retry connecting to discovery service reason={} backoff={} error={}",
            step,
            wait,
            down.toString());
        pause.of(wait);
      }
    }
  }
}
