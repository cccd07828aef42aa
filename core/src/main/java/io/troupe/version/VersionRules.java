package io.troupe.version;

import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.Operation;
import io.troupe.model.Refusal;
import java.util.Collection;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Decides on versions (8.7): the cluster version that a leader proposes, the effect of such an
 * entry on the state, the end of a downgrade, and which member may start or join. Pure.
 *
 * <p>An entry is decided on one state and applied on a later one, so {@link #after} checks it
 * again: a decision that is outdated has no effect.
 *
 * @source etcd etcdserver/version: the conditions; Troupe checks them when an entry is applied, and
 *     leaves the cluster version undecided until all members replied (decision 0220)
 */
public final class VersionRules {
  private VersionRules() {}

  /** The outcome of an operation: the versions after it, or the reason for a refusal. */
  public record Outcome(ClusterVersions versions, @Nullable Refusal refusal) {}

  // ---- the leader ----

  /**
   * The entry that the leader proposes for the cluster version, or null if it stays (V1, V5).
   *
   * @param servers server version of each member; empty for a member that does not reply: nothing
   *     changes then
   */
  public static Operation.@Nullable SetClusterVersion decide(
      ClusterVersions now, Collection<Optional<EtcdVersion>> servers) {
    EtcdVersion lowest = lowest(servers);
    if (lowest == null) {
      return null;
    }
    EtcdVersion target = now.downgradeTarget();
    if (target != null && lowest.compareTo(target) < 0) {
      return null;
    }
    Operation.SetClusterVersion change =
        new Operation.SetClusterVersion(now.cluster(), target == null ? lowest : target);
    return isPermitted(now, change) ? change : null;
  }

  /** Lowest major and minor version; null if one is unknown, or if there is no member. */
  private static @Nullable EtcdVersion lowest(Collection<Optional<EtcdVersion>> servers) {
    EtcdVersion lowest = null;
    for (Optional<EtcdVersion> server : servers) {
      if (server.isEmpty()) {
        return null;
      }
      EtcdVersion version = server.get().withoutPatch();
      if (lowest == null || version.compareTo(lowest) < 0) {
        lowest = version;
      }
    }
    return lowest;
  }

  /**
   * The entry that ends the downgrade because all members run its target, or null (MT12).
   *
   * @param servers as for {@link #decide}
   */
  public static Operation.@Nullable CancelDowngrade finish(
      ClusterVersions now, Collection<Optional<EtcdVersion>> servers) {
    EtcdVersion target = now.downgradeTarget();
    if (target == null || !target.equals(now.cluster()) || servers.isEmpty()) {
      return null;
    }
    boolean all =
        servers.stream()
            .allMatch(server -> server.isPresent() && server.get().withoutPatch().equals(target));
    return all ? new Operation.CancelDowngrade(target) : null;
  }

  // ---- the state ----

  /** The effect of an operation on the versions in the state. */
  public static Outcome after(ClusterVersions now, Operation.Versions operation) {
    if (operation instanceof Operation.SetClusterVersion change) {
      return new Outcome(
          isPermitted(now, change)
              ? new ClusterVersions(change.to(), change.to(), now.downgradeTarget())
              : now,
          null);
    }
    if (operation instanceof Operation.EnableDowngrade enable) {
      Refusal refusal = refuseDowngrade(now, enable.target());
      return refusal != null
          ? new Outcome(now, refusal)
          : new Outcome(new ClusterVersions(now.cluster(), now.storage(), enable.target()), null);
    }
    Operation.CancelDowngrade cancel = (Operation.CancelDowngrade) operation;
    EtcdVersion target = now.downgradeTarget();
    boolean ends = target != null && (cancel.target() == null || target.equals(cancel.target()));
    return ends
        ? new Outcome(new ClusterVersions(now.cluster(), now.storage(), null), null)
        : new Outcome(now, Refusal.NO_DOWNGRADE);
  }

  /** Only rises within a major version, except to the target of a downgrade (V1). */
  private static boolean isPermitted(ClusterVersions now, Operation.SetClusterVersion change) {
    EtcdVersion cluster = now.cluster();
    EtcdVersion to = change.to();
    if (cluster == null) {
      return change.from() == null;
    }
    if (!cluster.equals(change.from())) {
      return false;
    }
    EtcdVersion target = now.downgradeTarget();
    if (target != null) {
      return to.equals(target) && !cluster.equals(target);
    }
    return to.major() == cluster.major() && to.compareTo(cluster) > 0;
  }

  /** Why a downgrade to {@code target} cannot begin, in the order of MT11; null if it can. */
  public static @Nullable Refusal refuseDowngrade(ClusterVersions now, EtcdVersion target) {
    EtcdVersion cluster = now.cluster();
    if (cluster == null) {
      return Refusal.CLUSTER_VERSION_UNKNOWN;
    }
    if (target.major() != cluster.major()
        || target.minor() != cluster.minor() - 1
        || target.patch() != 0) {
      return Refusal.INVALID_DOWNGRADE_TARGET;
    }
    return now.isDowngrading() ? Refusal.DOWNGRADE_IN_PROGRESS : null;
  }

  /**
   * The version that a client names as the target of a downgrade (MT11): {@code X.Y}, {@code X.Y.Z}
   * or semantic versioning with suffixes; everything after the minor version is ignored.
   *
   * @return null if the text has another form
   */
  public static @Nullable EtcdVersion downgradeTarget(String text) {
    EtcdVersion complete = DowngradeTargetText.parse(text);
    EtcdVersion target = complete == null ? DowngradeTargetText.parse(text + ".0") : complete;
    return target == null ? null : target.withoutPatch();
  }

  // ---- members ----

  /**
   * Why a program cannot join a cluster as a new member (V2). Both sides check it: the joining
   * member, and the member that it queries. In a downgrade only the current cluster version fits,
   * which is the target after it has fallen: until then it falls only when the new member replies
   * too (decision 0246).
   *
   * @param cluster versions in the state of an existing member
   * @return null if it can; otherwise the text for the operator of the joining member
   */
  public static @Nullable String refuseJoin(EtcdVersion server, ClusterVersions cluster) {
    EtcdVersion own = server.withoutPatch();
    EtcdVersion current = cluster.cluster();
    EtcdVersion target = cluster.downgradeTarget();
    if (current == null) {
      return null;
    }
    if (target != null) {
      return own.equals(current)
          ? null
          : incompatible(server, current)
              + " and is downgraded to "
              + target.shortText()
              + "; join with a program that serves "
              + current.shortText();
    }
    boolean fits =
        own.major() == current.major()
            && own.minor() >= current.minor()
            && own.minor() <= current.minor() + 1;
    return fits
        ? null
        : incompatible(server, current)
            + "; join with a program that serves "
            + current.shortText();
  }

  private static String incompatible(EtcdVersion server, EtcdVersion cluster) {
    return "incompatible with current running cluster: the joining program serves "
        + server
        + ", the cluster has version "
        + cluster.shortText();
  }

  /**
   * Why two running members cannot exchange messages: their versions differ by more than one minor
   * version. Independent of the state, because the state of a lagging member may be old.
   *
   * @param other null if the other member is of a program that does not send its version
   * @return null if they can
   */
  public static @Nullable String refusePeer(EtcdVersion own, @Nullable EtcdVersion other) {
    if (other == null
        || (own.major() == other.major() && Math.abs(own.minor() - other.minor()) <= 1)) {
      return null;
    }
    return "incompatible version: this member serves "
        + own
        + ", the other one "
        + other
        + "; versions of members may differ by one minor version";
  }

  /**
   * Why a member cannot work on a state: it is older than the cluster or than the data (V2).
   *
   * @return null if it can; otherwise the text for the operator
   */
  public static @Nullable String refuseState(EtcdVersion server, ClusterVersions state) {
    EtcdVersion own = server.withoutPatch();
    EtcdVersion cluster = state.cluster();
    EtcdVersion storage = state.storage();
    if (cluster != null && own.compareTo(cluster) < 0) {
      return "invalid downgrade; server version is lower than determined cluster version:"
          + " this program serves "
          + server
          + ", the cluster has version "
          + cluster.shortText()
          + "; start this member with a program that serves "
          + cluster.shortText()
          + ", or first run \"etcdctl downgrade enable "
          + own.shortText()
          + "\" on the cluster and wait until this member has storage version "
          + own.shortText();
    }
    if (storage != null && own.compareTo(storage) < 0) {
      return "the data of this member has storage version "
          + storage.shortText()
          + ", this program serves "
          + server
          + "; start this member with a program that serves "
          + storage.shortText();
    }
    return null;
  }
}
