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

  /** Of the time between two tries: 2, 4, 8 ... 256 s. */
  private static final int MAX_DOUBLINGS = 8;

  /** As in etcd centuries: a member waits for the other members without limit. */
  private static final int MAX_RETRIES = Integer.MAX_VALUE;

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
  private final int maxRetries;
  private final Set<String> passedOver = new HashSet<>();

  /**
   * Through a registry.
   *
   * @param maxRetries of one call before it is given up
   */
  Discovery(Registry registry, String token, Pause pause, int maxRetries) {
    this.registry = registry;
    this.token = token;
    this.pause = pause;
    this.maxRetries = maxRetries;
  }

  /**
   * Finds the first members. Waits for as long as they take; an endpoint that does not answer is
   * asked again, with growing pauses. Ends early if its thread is interrupted.
   *
   * @param memberId of this member, lower hex
   * @param config this member as a value of initial-cluster: {@code name=url}, with commas between
   *     several
   * @return all first members, name to peer URLs, in the order in which they came; this one among
   *     them
   * @throws DiscoveryException if there is no such meeting, it is full, it contains invalid data,
   *     or the login is refused
   * @throws io.troupe.node.tls.TlsException if certificates or keys cannot be used
   */
  public static Map<String, List<String>> join(
      DiscoverySettings settings, String memberId, String config) throws InterruptedException {
    LOG.info("discovery begins {}", settings);
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
      LOG.debug("the size is no number: {}", text);
    }
    throw new DiscoveryException("discovery: size key is bad");
  }

  /** As in etcd, what is no member at all takes no member's place. */
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

  /** A member that comes too late must not wait without limit. */
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
