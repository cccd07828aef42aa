package io.troupe.edge.http;

import io.troupe.model.AlarmMember;
import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.model.MemberAttributes;
import io.troupe.model.NodeId;
import io.troupe.protocol.ClusterView;
import io.troupe.protocol.RefusedException;
import io.troupe.protocol.StateReader;
import io.troupe.server.Member;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.apache.pekko.http.javadsl.model.StatusCodes;
import org.apache.pekko.http.javadsl.model.headers.RawHeader;

/**
 * The page at {@code /}: this member and its cluster for a person with a browser. Read only,
 * without scripts. etcd has none (docs/conformance.md).
 */
public final class StatusPage {
  private static final String STYLE =
      "body{font-family:sans-serif;margin:2em}table{border-collapse:collapse}"
          + "th,td{border:1px solid #999;padding:.3em .6em;text-align:left}";

  /** Only the style above; a page of another site cannot frame it. */
  private static final String POLICY =
      "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

  private final Member member;
  private final StatusPageMode mode;
  private final String version;

  /**
   * Creates the page of one member.
   *
   * @param version Troupe's own version and commit
   */
  public StatusPage(Member member, StatusPageMode mode, String version) {
    this.member = member;
    this.mode = mode;
    this.version = version;
  }

  /** Responds to a request for the path {@code /}. */
  HttpResponse handle(HttpRequest request) {
    try {
      if (!isOn()) {
        return HttpResponses.notFound();
      }
      if (!HttpResponses.isGet(request)) {
        return HttpResponses.onlyGet();
      }
      return HttpResponse.create()
          .addHeader(RawHeader.create("Content-Security-Policy", POLICY))
          .addHeader(RawHeader.create("X-Content-Type-Options", "nosniff"))
          .addHeader(RawHeader.create("Cache-Control", "no-store"))
          .addHeader(RawHeader.create("Referrer-Policy", "no-referrer"))
          .withEntity(ContentTypes.TEXT_HTML_UTF8, page());
    } catch (RefusedException whileSnapshotIsInstalled) {
      return HttpResponses.text(
          StatusCodes.SERVICE_UNAVAILABLE,
          "the state is being replaced by a snapshot: " + whileSnapshotIsInstalled.getMessage());
    }
  }

  private boolean isOn() {
    return switch (mode) {
      case AUTO -> !member.state().auth().isEnabled();
      case ALWAYS -> true;
      case NEVER -> false;
    };
  }

  private String page() {
    StateReader state = member.state();
    ClusterView cluster = state.cluster();
    NodeId self = member.status().memberId();
    String name = name(cluster, self);
    StringBuilder out = new StringBuilder(4096);
    out.append("<!DOCTYPE html><html lang=\"en\"><head><meta charset=\"utf-8\"><title>Troupe ");
    out.append(escaped(name)).append("</title><style>").append(STYLE).append("</style></head>");
    out.append("<body><h1>Troupe member ").append(escaped(name)).append("</h1><table>");
    row(out, "version", "Troupe " + version + ", etcd API " + member.serverVersion());
    row(out, "cluster version", versions(state.versions()));
    row(out, "member", self.toString());
    row(out, "cluster", Long.toHexString(member.status().clusterId()));
    row(out, "leader", leader(cluster));
    row(out, "Raft term", String.valueOf(member.status().term()));
    row(
        out,
        "log index",
        "committed " + member.status().committed() + ", applied " + member.status().applied());
    row(out, "revision", String.valueOf(state.revision()));
    row(
        out,
        "compacted revision",
        state.compactedRevision() > 0 ? String.valueOf(state.compactedRevision()) : "none");
    row(out, "size on disk", size(state.sizeOnDisk()));
    row(out, "size in use", size(state.sizeInUse()));
    row(out, "alarms", alarms(state.alarms(), cluster));
    row(out, "authentication", state.auth().isEnabled() ? "on" : "off");
    out.append("</table><h2>Members</h2><table><tr>");
    for (String title : List.of("name", "id", "role", "connected", "client URLs", "peer URLs")) {
      out.append("<th>").append(title).append("</th>");
    }
    out.append("</tr>");
    for (Map.Entry<NodeId, List<String>> each : cluster.peerUrls().entrySet()) {
      member(out, cluster, each.getKey(), each.getValue());
    }
    out.append("</table><p><a href=\"/metrics\">metrics</a> <a href=\"/health\">health</a>");
    out.append(" <a href=\"/readyz?verbose\">readiness</a> <a href=\"/version\">versions</a>");
    out.append(" <a href=\"https://etcd.io/docs/\">documentation of the API</a></p>");
    out.append("<p>Pages for operators: docs/operations.md and docs/metrics.md of Troupe.</p>");
    return out.append("</body></html>\n").toString();
  }

  private void member(StringBuilder out, ClusterView cluster, NodeId id, List<String> peerUrls) {
    MemberAttributes attributes = cluster.published().get(id);
    List<String> clientUrls = attributes == null ? List.of() : attributes.clientUrls();
    boolean leads = id.equals(member.status().leader());
    boolean connected = member.status().isConnectedSince(id, System.nanoTime());
    out.append("<tr>");
    for (String text :
        List.of(
            name(cluster, id),
            id.toString(),
            leads ? "leader" : cluster.isLearner(id) ? "learner" : "follower",
            id.equals(member.status().memberId()) ? "this member" : connected ? "yes" : "no",
            String.join(" ", clientUrls),
            String.join(" ", peerUrls))) {
      out.append("<td>").append(escaped(text)).append("</td>");
    }
    out.append("</tr>");
  }

  private static String versions(ClusterVersions versions) {
    EtcdVersion cluster = versions.cluster();
    EtcdVersion storage = versions.storage();
    EtcdVersion target = versions.downgradeTarget();
    return (cluster == null ? "not decided" : cluster.shortText())
        + ", storage "
        + (storage == null ? "unknown" : storage.shortText())
        + (target == null ? "" : ", downgrade to " + target.shortText() + " in progress");
  }

  private String leader(ClusterView cluster) {
    NodeId leader = member.status().leader();
    return leader.isNone() ? "none" : name(cluster, leader) + " (" + leader + ")";
  }

  private static String alarms(List<AlarmMember> alarms, ClusterView cluster) {
    return alarms.isEmpty()
        ? "none"
        : alarms.stream()
            .map(alarm -> alarm.type().name() + " of " + name(cluster, alarm.member()))
            .collect(Collectors.joining(", "));
  }

  /** Returns "?" for a member that has not published its name. */
  private static String name(ClusterView cluster, NodeId id) {
    MemberAttributes attributes = cluster.published().get(id);
    return attributes == null || attributes.name().isEmpty() ? "?" : attributes.name();
  }

  private static String size(long bytes) {
    return String.format(Locale.ROOT, "%.1f MiB (%d bytes)", bytes / (double) (1 << 20), bytes);
  }

  private static void row(StringBuilder out, String title, String text) {
    out.append("<tr><th>").append(title).append("</th><td>").append(escaped(text));
    out.append("</td></tr>");
  }

  /** Members choose their names and URLs: they must not become markup. */
  static String escaped(String text) {
    return text.replace("&", "&amp;")
        .replace("<", "&lt;")
        .replace(">", "&gt;")
        .replace("\"", "&quot;")
        .replace("'", "&#39;");
  }
}
