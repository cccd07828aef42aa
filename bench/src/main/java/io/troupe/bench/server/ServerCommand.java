package io.troupe.bench.server;

import io.troupe.bench.client.Endpoint;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The command that starts a kind of server.
 *
 * @param name its name in the results
 * @param program the first words of the command line
 * @param flags the form of its settings
 * @param environment variables added to the generator's own
 */
public record ServerCommand(
    String name, List<String> program, Flags flags, Map<String, String> environment) {
  private static final String CLIENT_TLS = "client-transport-security.";
  private static final long QUOTA_BYTES = 64L << 30;

  /** The form of a program's settings. */
  public enum Flags {
    /** {@code --data-dir=...}, like etcd. */
    ETCD,
    /** {@code -Dtroupe.data-dir=...}, like bin/node. */
    TROUPE
  }

  /** The addresses of a member for clients and for other members. */
  public record Addresses(Endpoint client, Endpoint peer) {}

  public ServerCommand {
    program = List.copyOf(program);
    environment = Map.copyOf(environment);
  }

  /** An etcd, or any program with etcd's flags. */
  public static ServerCommand etcd(String path) {
    return new ServerCommand("etcd", List.of(path), Flags.ETCD, Map.of());
  }

  /**
   * A Troupe server.
   *
   * @param command bin/node or a program with its arguments; several words are split at blanks
   */
  public static ServerCommand troupe(String command) {
    return new ServerCommand(
        "troupe", List.of(command.trim().split(" +", -1)), Flags.TROUPE, Map.of());
  }

  /** The same command with other environment variables. */
  public ServerCommand with(String newName, Map<String, String> newEnvironment) {
    return new ServerCommand(newName, program, flags, newEnvironment);
  }

  /**
   * The whole command line of a member, which keeps its data in {@code dataDir}.
   *
   * @param members all initial members of its cluster
   * @param self its position among them, from 0
   */
  public List<String> commandLine(Path dataDir, List<Addresses> members, int self) {
    List<String> cluster = new ArrayList<>();
    for (int i = 0; i < members.size(); i++) {
      cluster.add(memberName(i) + "=" + members.get(i).peer().url());
    }
    Addresses own = members.get(self);
    List<String> line = new ArrayList<>(program);
    String prefix = flags == Flags.ETCD ? "--" : "-Dtroupe.";
    line.add(prefix + "name=" + memberName(self));
    line.add(prefix + "data-dir=" + dataDir);
    line.add(prefix + "listen-client-urls=" + own.client().url());
    line.add(prefix + "advertise-client-urls=" + own.client().url());
    line.add(prefix + "listen-peer-urls=" + own.peer().url());
    line.add(prefix + "initial-advertise-peer-urls=" + own.peer().url());
    line.add(prefix + "initial-cluster=" + String.join(",", cluster));
    line.add(prefix + "quota-backend-bytes=" + QUOTA_BYTES);
    if (own.client().tls()) {
      line.add(flags == Flags.ETCD ? "--auto-tls" : prefix + CLIENT_TLS + "auto-tls=true");
    }
    return line;
  }

  private static String memberName(int place) {
    return "bench" + (place + 1);
  }
}
