package io.troupe.server;

import io.troupe.grpc.error.GrpcException;
import io.troupe.grpc.error.GrpcStatus;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Syntax of the peer URLs in requests (M1). */
final class PeerUrls {
  /** The last colon separates host and port; addresses with colons are in brackets. */
  private static final Pattern TCP =
      Pattern.compile(
          "(https?)(://(?:[^/?#@]*@)?(?:\\[[^\\]/?#\\s]*\\]|[^/?#@:\\[\\]\\s]*):[0-9]*(?:[?#].*)?)",
          Pattern.CASE_INSENSITIVE);

  private static final Pattern UNIX = Pattern.compile("(unixs?)(:.*)", Pattern.CASE_INSENSITIVE);

  private PeerUrls() {}

  /**
   * The URLs, sorted as text, schemes in lower case.
   *
   * @throws GrpcException row 19 of the table if there are none, or one is not a peer URL
   */
  static List<String> checked(List<String> given) {
    if (given.isEmpty()) {
      throw invalid();
    }
    return given.stream().map(url -> checked(url.trim())).sorted().toList();
  }

  private static String checked(String url) {
    for (Pattern form : List.of(TCP, UNIX)) {
      Matcher matcher = form.matcher(url);
      if (matcher.matches()) {
        return matcher.group(1).toLowerCase(Locale.ROOT) + matcher.group(2);
      }
    }
    throw invalid();
  }

  private static GrpcException invalid() {
    return new GrpcException(
        GrpcStatus.INVALID_ARGUMENT, "etcdserver: given member URLs are invalid");
  }
}
