package io.troupe.node;

import com.sun.management.UnixOperatingSystemMXBean;
import io.troupe.actors.member.MemberFiles;
import io.troupe.actors.member.MemberRefs;
import io.troupe.actors.peers.PeerMemory;
import io.troupe.metrics.MemberMetrics;
import io.troupe.model.EtcdVersion;
import io.troupe.model.MemoryBudget;
import io.troupe.node.config.DerivedSettings;
import io.troupe.node.config.NodeSettings;
import io.troupe.node.process.HeapMonitor;
import io.troupe.node.process.ProcessFigures;
import io.troupe.node.process.Version;
import io.troupe.protocol.MemberStatus;
import io.troupe.protocol.StateReader;
import io.troupe.server.Logins;
import io.troupe.server.Member;
import io.troupe.server.PendingReplies;
import io.troupe.server.auth.Passwords;
import io.troupe.server.auth.SimpleTokens;
import java.lang.management.ManagementFactory;
import java.util.Map;
import java.util.TreeMap;

/** Metrics whose values a member has anyway. They are computed when metrics are read. */
final class MemberGauges {
  /** RocksDB properties, by Troupe's metric names. */
  private static final Map<String, String> STORE =
      new TreeMap<>(
          Map.of(
              "troupe_store_table_bytes", "rocksdb.total-sst-files-size",
              "troupe_store_write_buffer_bytes", "rocksdb.cur-size-all-mem-tables",
              "troupe_store_pending_compaction_bytes", "rocksdb.estimate-pending-compaction-bytes",
              "troupe_store_running_compactions", "rocksdb.num-running-compactions",
              "troupe_store_running_flushes", "rocksdb.num-running-flushes",
              "troupe_store_records", "rocksdb.estimate-num-keys"));

  private final MemberMetrics metrics;
  private final MemberStatus status;
  private final StateReader state;

  private MemberGauges(Member member) {
    this.metrics = member.metrics();
    this.status = member.status();
    this.state = member.state();
  }

  /** Registers all of them. Called once for each member. */
  static void register(
      NodeSettings settings,
      MemberFiles files,
      MemberRefs refs,
      Member member,
      Logins logins,
      PeerMemory peers) {
    MemberGauges gauges = new MemberGauges(member);
    gauges.server(member, DerivedSettings.gateway(settings).quotaBytes());
    member
        .metrics()
        .gauges(
            "etcd_server_feature_enabled",
            "Whether a feature was turned on.",
            settings.features()::report,
            "name",
            "stage");
    gauges.raft();
    gauges.state();
    gauges.refs(refs, files);
    gauges.files();
    gauges.clients(member.clientMemory(), member.replies());
    gauges.logins(logins);
    gauges.peers(peers);
    member.metrics().addProcess();
    ProcessFigures.register(member.metrics());
  }

  private void server(Member member, long quotaBytes) {
    label("etcd_server_id", "This member.", "server_id", status.memberId().toString());
    label(
        "etcd_server_version",
        "The etcd version that this server is compatible with.",
        "server_version",
        member.serverVersion().toString());
    label(
        "etcd_server_go_version",
        "Java version that this server runs on.",
        "server_go_version",
        "java" + Runtime.version());
    metrics.gauges(
        "troupe_build_info",
        "Version, commit, JDK and heap limit of this process.",
        target ->
            target.value(
                1,
                Version.product(),
                Version.commit(),
                Runtime.version().toString(),
                HeapMonitor.limitMebibytes() + "MiB",
                member.serverVersion().toString()),
        "version",
        "commit",
        "java_version",
        "heap_max",
        "etcd_version");
    metrics.gauges(
        "etcd_cluster_version",
        "Version of the cluster.",
        target -> {
          EtcdVersion cluster = state.versions().cluster();
          if (cluster != null) {
            target.value(1, cluster.shortText());
          }
        },
        "cluster_version");
    metrics.gauge(
        "etcd_server_is_learner",
        "Whether this member is a learner.",
        () -> number(member.isLearner()));
    metrics.gauge(
        "etcd_server_quota_backend_bytes",
        "Size of the state at which writes stop.",
        () -> quotaBytes);
  }

  private void label(String name, String help, String label, String value) {
    metrics.gauges(name, help, target -> target.value(1, value), label);
  }

  private void raft() {
    metrics.gauge(
        "etcd_server_has_leader",
        "Whether a leader is known.",
        () -> number(!status.leader().isNone()));
    metrics.gauge(
        "etcd_server_is_leader",
        "Whether this member leads.",
        () -> number(status.leader().equals(status.memberId())));
    metrics.gauge(
        "etcd_server_proposals_committed_total",
        "Highest index that is committed.",
        status::committed);
    metrics.gauge(
        "etcd_server_proposals_applied_total", "Highest index that is applied.", status::applied);
    metrics.gauge("troupe_raft_term", "Current term.", status::term);
    metrics.gauge(
        "troupe_apply_lag_entries",
        "Entries that are committed and not applied yet.",
        () -> Math.max(0, status.committed() - status.applied()));
  }

  private void state() {
    metrics.gauge(
        "etcd_mvcc_db_total_size_in_bytes", "Size of the state on disk.", state::sizeOnDisk);
    metrics.gauge(
        "etcd_mvcc_db_total_size_in_use_in_bytes",
        "Size of the live data in the state.",
        state::sizeInUse);
    metrics.gauge("etcd_debugging_mvcc_current_revision", "Current revision.", state::revision);
    metrics.gauge(
        "etcd_debugging_mvcc_compact_revision", "Compacted revision.", state::compactedRevision);
    metrics.gauge(
        "etcd_debugging_auth_revision",
        "Revision of users and roles.",
        () -> state.auth().revision());
    metrics.gauge("etcd_debugging_mvcc_keys_total", "Live keys.", state::keys);
    metrics.gauge(
        "troupe_key_blocks",
        "Blocks in which live keys are counted.",
        () -> state.countedBlocks().blocks());
    metrics.gauge(
        "troupe_key_blocks_bytes",
        "Memory of the blocks in which live keys are counted.",
        () -> state.countedBlocks().bytes());
    metrics.counter(
        "troupe_key_block_corrections_total",
        "Counts of live keys that were wrong and were corrected.",
        () -> state.countedBlocks().corrections());
    metrics.gauges(
        "etcd_debugging_server_alarms",
        "Alarms that are raised.",
        target ->
            state
                .alarms()
                .forEach(alarm -> target.value(1, alarm.member().toString(), alarm.type().name())),
        "server_id",
        "alarm_type");
    metrics.gauge(
        "troupe_watch_lag_revisions",
        "Revisions that are applied and not sent to watches yet.",
        () -> Math.max(0, state.revision() - metrics.watch().revision()));
  }

  private void clients(MemoryBudget memory, PendingReplies replies) {
    metrics.gauge(
        "troupe_client_memory_bytes", "Memory that clients use on this member.", memory::taken);
    metrics.gauge(
        "troupe_client_memory_limit_bytes",
        "Limit of the memory that clients may use on this member.",
        memory::maxBytes);
    metrics.counter(
        "troupe_client_memory_refused_total",
        "Requests that were refused because clients use too much memory.",
        memory::refused);
    metrics.gauge(
        "troupe_pending_replies",
        "Replies of this member's actors that calls of clients wait for.",
        replies::count);
  }

  private void logins(Logins logins) {
    Passwords passwords = logins.passwords();
    metrics.gauge(
        "troupe_auth_waiting_passwords",
        "Passwords that are queued for checking or hashing.",
        passwords::waiting);
    metrics.counter(
        "troupe_auth_refused_passwords_total",
        "Passwords that were refused because the queue was full.",
        passwords::refused);
    metrics.counter(
        "troupe_auth_dropped_passwords_total",
        "Passwords that were not checked because the client had closed the call.",
        passwords::dropped);
    if (logins.tokens() instanceof SimpleTokens simple) {
      metrics.gauge("troupe_auth_simple_tokens", "Simple tokens that are kept.", simple::size);
      metrics.counter(
          "troupe_auth_evicted_tokens_total",
          "Simple tokens that were evicted because too many were kept.",
          simple::evicted);
    }
  }

  private void peers(PeerMemory memory) {
    metrics.gauges(
        "troupe_peer_memory_bytes",
        "Memory that traffic between members uses.",
        memory::taken,
        "part");
    metrics.gauges(
        "troupe_peer_memory_limit_bytes",
        "Limit of the memory that traffic between members may use.",
        memory::limits,
        "part");
    metrics.counters(
        "troupe_peer_memory_dropped_total",
        "Connections and messages that were dropped because traffic between members uses too"
            + " much memory.",
        memory::dropped,
        "part");
  }

  private void refs(MemberRefs refs, MemberFiles files) {
    metrics.gauges(
        "troupe_mailbox_messages",
        "Messages in the mailbox of an actor.",
        target -> refs.mailboxes((actor, count) -> target.value(count, actor)),
        "room");
    metrics.gauges(
        "troupe_peer_backlog_bytes",
        "Messages of other members in the mailbox of an actor.",
        refs::peerBacklog,
        "room");
    metrics.gauges(
        "troupe_peer_backlog_limit_bytes",
        "Limit above which messages of other members are dropped.",
        refs::peerBacklogLimits,
        "room");
    STORE.forEach(
        (name, property) ->
            metrics.gauge(
                name, "RocksDB's " + property + ".", () -> files.store().property(property)));
    metrics.gauge("troupe_wal_bytes", "Size of the log on disk.", files::walBytes);
  }

  private void files() {
    if (ManagementFactory.getOperatingSystemMXBean() instanceof UnixOperatingSystemMXBean unix) {
      metrics.gauge("os_fd_limit", "Limit of open files.", unix::getMaxFileDescriptorCount);
      metrics.gauge("os_fd_used", "Open files.", unix::getOpenFileDescriptorCount);
    }
  }

  private static double number(boolean yes) {
    return yes ? 1 : 0;
  }
}
