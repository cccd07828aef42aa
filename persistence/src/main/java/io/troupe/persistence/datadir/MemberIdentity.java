package io.troupe.persistence.datadir;

import io.troupe.model.NodeId;
import io.troupe.persistence.datadir.CheckedText.BadTextException;
import io.troupe.persistence.datadir.CheckedText.Field;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

/**
 * Who a data directory belongs to. Written once, at bootstrap.
 *
 * @param clusterId id of the cluster, unsigned, not 0
 * @param memberId id of the member, not none
 * @param name the member's name at bootstrap; any text
 * @param peerUrls the peer URLs at bootstrap, in order; immutable
 * @param createdBy version of the program that made the directory
 */
public record MemberIdentity(
    long clusterId, NodeId memberId, String name, List<String> peerUrls, String createdBy) {
  /** Version of the whole directory's layout; a change of any file's place raises it. */
  public static final int FORMAT_VERSION = 1;

  static final String TITLE = "troupe-member";

  public MemberIdentity {
    peerUrls = List.copyOf(peerUrls);
    if (clusterId == 0 || memberId.isNone()) {
      throw new IllegalArgumentException("a member has a cluster id and a member id");
    }
  }

  /** The bytes of the identity file. */
  byte[] encode() {
    List<Field> fields = new ArrayList<>();
    fields.add(new Field("cluster-id", Long.toHexString(clusterId)));
    fields.add(new Field("member-id", memberId.toString()));
    fields.add(new Field("name", escape(name)));
    for (String url : peerUrls) {
      fields.add(new Field("peer-url", escape(url)));
    }
    fields.add(new Field("created-by", escape(createdBy)));
    return CheckedText.encode(TITLE, FORMAT_VERSION, fields);
  }

  /**
   * Reads what {@link #encode()} wrote.
   *
   * @throws BadTextException if it is damaged or of another version
   * @throws IllegalArgumentException if a field is missing or has no sense
   */
  static MemberIdentity decode(byte[] content) throws BadTextException {
    List<Field> fields = CheckedText.decode(TITLE, FORMAT_VERSION, content);
    List<String> urls = new ArrayList<>();
    for (Field field : fields) {
      if (field.name().equals("peer-url")) {
        urls.add(unescape(field.value()));
      }
    }
    return new MemberIdentity(
        Long.parseUnsignedLong(value(fields, "cluster-id"), 16),
        new NodeId(Long.parseUnsignedLong(value(fields, "member-id"), 16)),
        unescape(value(fields, "name")),
        urls,
        unescape(value(fields, "created-by")));
  }

  private static String value(List<Field> fields, String name) {
    for (Field field : fields) {
      if (field.name().equals(name)) {
        return field.value();
      }
    }
    throw new IllegalArgumentException("no field " + name);
  }

  private static String escape(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }

  private static String unescape(String text) {
    return URLDecoder.decode(text, StandardCharsets.UTF_8);
  }
}
