package io.troupe.edge.http;

import io.troupe.model.ClusterVersions;
import io.troupe.model.EtcdVersion;
import io.troupe.protocol.RefusedException;
import io.troupe.server.Member;
import org.apache.pekko.http.javadsl.model.ContentTypes;
import org.apache.pekko.http.javadsl.model.HttpRequest;
import org.apache.pekko.http.javadsl.model.HttpResponse;
import org.jspecify.annotations.Nullable;

/** The versions at {@code /version}, as JSON (H5). */
public final class VersionEndpoint {
  private final Member member;

  /** Creates the endpoint of one member. */
  public VersionEndpoint(Member member) {
    this.member = member;
  }

  HttpResponse handle(HttpRequest request) {
    return HttpResponses.isGet(request)
        ? HttpResponse.create().withEntity(ContentTypes.APPLICATION_JSON, json())
        : HttpResponses.onlyGet();
  }

  private String json() {
    ClusterVersions versions = versions();
    return "{\"etcdserver\":\""
        + member.serverVersion()
        + "\",\"etcdcluster\":\""
        + text(versions.cluster(), "not_decided")
        + "\",\"storage\":\""
        + text(versions.storage(), "unknown")
        + "\"}";
  }

  /** While a snapshot replaces the state, no version is known. */
  private ClusterVersions versions() {
    try {
      return member.state().versions();
    } catch (RefusedException whileSnapshotIsInstalled) {
      return ClusterVersions.UNDECIDED;
    }
  }

  private static String text(@Nullable EtcdVersion version, String whenUnknown) {
    return version == null ? whenUnknown : version.toString();
  }
}
