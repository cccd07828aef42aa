package io.troupe.persistence.datadir;

import static java.util.stream.Collectors.joining;

import io.troupe.model.NodeId;
import io.troupe.persistence.datadir.CheckedText.BadTextException;
import io.troupe.persistence.datadir.CheckedText.Field;
import java.net.URLDecoder;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Who a data directory belongs to. Written once, at bootstrap.
 *
 * @param clusterId id of the cluster, unsigned, not 0
 * @param memberId id of the member, not none
 * @param name the member's name at bootstrap; any text
 * @param peerUrls the peer URLs at bootstrap, in order; immutable
 * @param firstMembers the members that the cluster began with and their peer URLs, if this is one
 *     of them: its log begins with them. Empty if it joined: its leader tells it who is a member.
 *     By id, unmodifiable
 * @param createdBy version of the program that made the directory
 */
public record MemberIdentity(
    long clusterId,
    NodeId memberId,
    String name,
    List<String> peerUrls,
    SortedMap<NodeId, List<String>> firstMembers,
    String createdBy) {
  /** Version of the whole directory's layout; a change of any file's place raises it. */
  public static final int FORMAT_VERSION = 1;

  static final String TITLE = "troupe-member";

  private static final String FIRST_MEMBER = "first-member";

  public MemberIdentity {
    peerUrls = List.copyOf(peerUrls);
    TreeMap<NodeId, List<String>> copy = new TreeMap<>();
    firstMembers.forEach((member, urls) -> copy.put(member, List.copyOf(urls)));
    firstMembers = Collections.unmodifiableSortedMap(copy);
    if (clusterId == 0 || memberId.isNone()) {
      throw new IllegalArgumentException("a member has a cluster id and a member id");
    }
    if (!firstMembers.isEmpty() && !firstMembers.containsKey(memberId)) {
      throw new IllegalArgumentException(memberId + " is none of the first members");
    }
  }

  /** The only member of a new cluster. */
  public MemberIdentity(
      long clusterId, NodeId memberId, String name, List<String> peerUrls, String createdBy) {
    this(clusterId, memberId, name, peerUrls, new TreeMap<>(Map.of(memberId, peerUrls)), createdBy);
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
    firstMembers.forEach(
        (member, urls) ->
            fields.add(
                new Field(
                    FIRST_MEMBER,
                    member + urls.stream().map(url -> " " + escape(url)).collect(joining()))));
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
    TreeMap<NodeId, List<String>> firstMembers = new TreeMap<>();
    for (Field field : fields) {
      if (field.name().equals("peer-url")) {
        urls.add(unescape(field.value()));
      } else if (field.name().equals(FIRST_MEMBER)) {
        List<String> parts = List.of(field.value().split(" ", -1));
        firstMembers.put(
            member(parts.get(0)),
            parts.subList(1, parts.size()).stream().map(MemberIdentity::unescape).toList());
      }
    }
    return new MemberIdentity(
        Long.parseUnsignedLong(value(fields, "cluster-id"), 16),
        member(value(fields, "member-id")),
        unescape(value(fields, "name")),
        urls,
        firstMembers,
        unescape(value(fields, "created-by")));
  }

  private static NodeId member(String hex) {
    return new NodeId(Long.parseUnsignedLong(hex, 16));
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
