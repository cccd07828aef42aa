package io.troupe.node.flags;

import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.CharacterCodingException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import org.snakeyaml.engine.v2.exceptions.YamlEngineException;

/**
 * Reads etcd's configuration file, YAML or JSON (F2, 4.4). Its keys are the names of the flags,
 * some of them in blocks. Unknown keys are skipped.
 */
final class ConfigFile {
  /** Flags without a key, or with a key in a block only. */
  private static final List<String> NOT_AT_THE_TOP =
      List.of("raft-read-timeout", "raft-write-timeout", "config-file", "version");

  private static final Map<String, String> TRANSPORT =
      Map.of(
          "cert-file", "cert-file",
          "key-file", "key-file",
          "client-cert-file", "client-cert-file",
          "client-key-file", "client-key-file",
          "client-cert-auth", "client-cert-auth",
          "trusted-ca-file", "trusted-ca-file",
          "auto-tls", "auto-tls",
          "allowed-cn", "cert-allowed-cn",
          "allowed-hostname", "cert-allowed-hostname",
          "skip-client-san-verification", "skip-client-san-verification");

  private static final Map<String, String> SECURE =
      Map.of(
          "cert", "discovery-cert",
          "key", "discovery-key",
          "cacert", "discovery-cacert",
          "insecure-transport", "discovery-insecure-transport",
          "insecure-skip-tls-verify", "discovery-insecure-skip-tls-verify");

  private final Map<String, String> values = new LinkedHashMap<>();
  private final Map<String, String> settings = new LinkedHashMap<>();

  private ConfigFile() {}

  /**
   * Content of a file.
   *
   * @param flags checked values by flag
   * @param settings values without a flag, by key under {@code troupe}
   */
  record Content(Map<String, String> flags, Map<String, String> settings) {}

  /**
   * Reads a file.
   *
   * @throws FlagException if it cannot be read or is wrong
   */
  static Content read(String file) {
    ConfigFile read = new ConfigFile();
    read.top(parse(file));
    return new Content(read.values, read.settings);
  }

  private static Map<?, ?> parse(String file) {
    try {
      LoadSettings form =
          LoadSettings.builder()
              .setLabel(file)
              .setSchema(new YamlScalars())
              .setAllowDuplicateKeys(true)
              .build();
      // Only the first document is read.
      Iterator<Object> documents =
          new Load(form).loadAllFromString(Files.readString(Path.of(file))).iterator();
      Object content = documents.hasNext() ? documents.next() : null;
      if (content == null) {
        return Map.of();
      }
      if (content instanceof Map<?, ?> map) {
        return map;
      }
      throw new FlagException(1, "error parsing " + file + ": expected keys and values");
    } catch (NoSuchFileException e) {
      throw new FlagException(1, "open " + file + ": no such file or directory");
    } catch (CharacterCodingException e) {
      throw new FlagException(1, "error parsing " + file + ": it is not UTF-8");
    } catch (IOException e) {
      throw new FlagException(1, "read " + file + ": " + e.getMessage());
    } catch (YamlEngineException | NumberFormatException e) {
      throw new FlagException(1, "error parsing " + file + ": " + e.getMessage());
    }
  }

  private void top(Map<?, ?> content) {
    content.forEach(
        (name, value) -> {
          String key = String.valueOf(name);
          switch (key) {
            case "client-transport-security" -> transport(key, value, "");
            case "peer-transport-security" -> transport(key, value, "peer-");
            case "discovery-config" -> discovery(block(key, value));
            case "socket-options" ->
                block(key, value).forEach((option, on) -> take("socket-" + option, key, on));
            default -> {
              if (!NOT_AT_THE_TOP.contains(key) && !isInABlock(key)) {
                take(key, key, value);
              }
            }
          }
        });
  }

  /** Returns true if the flag has its key in a block, so that its own name is not a key (4.4). */
  private static boolean isInABlock(String key) {
    boolean discovery = key.startsWith("discovery-") && !key.startsWith("discovery-srv");
    boolean transport =
        TRANSPORT.containsKey(key)
            || key.equals("client-cert-allowed-hostname")
            || key.equals("client-crl-file")
            || (key.startsWith("peer-") && TRANSPORT.containsValue(key.substring(5)))
            || key.equals("peer-crl-file");
    return discovery || transport || key.startsWith("socket-");
  }

  private static Map<?, ?> block(String key, @Nullable Object value) {
    if (value == null) {
      return Map.of();
    }
    if (value instanceof Map<?, ?> block) {
      return block;
    }
    throw new FlagException(1, "error parsing " + key + ": expected keys and values");
  }

  private void transport(String key, Object value, String peer) {
    block(key, value)
        .forEach(
            (name, each) -> {
              String flag = TRANSPORT.get(String.valueOf(name));
              if (flag == null) {
                return;
              }
              boolean clientsOwn = peer.isEmpty() && flag.startsWith("cert-allowed");
              String full = clientsOwn ? "client-" + flag : peer + flag;
              if (EtcdFlags.all().containsKey(full)) {
                take(full, key + "." + name, each);
              } else if (each != null && !text(each).isEmpty()) {
                // The client block has keys without a flag.
                settings.put(key + "." + name, text(each));
              }
            });
  }

  private void discovery(Map<?, ?> config) {
    take("discovery-token", "discovery-config.token", config.get("token"));
    Map<?, ?> client = block("discovery-config.client", config.get("client"));
    for (String own :
        List.of(
            "endpoints",
            "request-timeout",
            "dial-timeout",
            "keepalive-time",
            "keepalive-timeout")) {
      take("discovery-" + own, "discovery-config.client." + own, client.get(own));
    }
    Map<?, ?> secure = block("discovery-config.client.secure", client.get("secure"));
    SECURE.forEach(
        (key, flag) -> take(flag, "discovery-config.client.secure." + key, secure.get(key)));
    Map<?, ?> auth = block("discovery-config.client.auth", client.get("auth"));
    take("discovery-user", "discovery-config.client.auth.username", auth.get("username"));
    take("discovery-password", "discovery-config.client.auth.password", auth.get("password"));
  }

  private void take(String name, String key, @Nullable Object value) {
    Flag flag = EtcdFlags.all().get(name);
    if (flag == null || value == null || flag.fate() == Flag.Fate.IGNORED) {
      return;
    }
    boolean fits =
        switch (flag.type()) {
          case BOOL -> value instanceof Boolean;
          case NUMBER, UNSIGNED, MILLIS, SECONDS, DURATION -> isWhole(value);
          case TEXT, URLS, CLUSTER_STATE, V2_STAGE -> !(value instanceof Map<?, ?>);
        };
    try {
      if (!fits) {
        throw new IllegalArgumentException("expected " + expected(flag));
      }
      // F2: durations are nanoseconds
      values.put(
          name,
          switch (flag.type()) {
            case DURATION -> flag.checked(text(value) + "ns");
            case V2_STAGE -> text(value);
            default -> flag.checked(text(value));
          });
    } catch (IllegalArgumentException wrong) {
      throw new FlagException(
          1, "invalid value \"" + value + "\" for key " + key + ": " + wrong.getMessage());
    }
  }

  private static String expected(Flag flag) {
    return switch (flag.type()) {
      case BOOL -> "true or false";
      case DURATION -> "a whole number of nanoseconds";
      case NUMBER, UNSIGNED, MILLIS, SECONDS -> "a whole number";
      case TEXT, URLS, CLUSTER_STATE, V2_STAGE -> "a text";
    };
  }

  private static boolean isWhole(Object value) {
    return value instanceof BigInteger
        || (value instanceof BigDecimal number && number.stripTrailingZeros().scale() <= 0);
  }

  private static String text(Object value) {
    if (value instanceof List<?> list) {
      return list.stream().map(ConfigFile::text).collect(Collectors.joining(","));
    }
    return value instanceof BigDecimal number
        ? number.stripTrailingZeros().toPlainString()
        : String.valueOf(value);
  }
}
