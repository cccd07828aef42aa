package io.troupe.ctl.golden;

import com.google.protobuf.ByteString;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnknownFieldSet;
import io.troupe.ctl.client.ClientSettings;
import io.troupe.ctl.client.EtcdClient;
import io.troupe.ctl.client.EtcdMethods;
import io.troupe.ctl.client.Login;
import io.troupe.ctl.client.TlsSettings;
import io.troupe.grpc.api.MemberListRequest;
import io.troupe.grpc.api.MemberListResponse;
import io.troupe.grpc.api.RangeRequest;
import io.troupe.testkit.TroupeServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Runs the commands of golden files against a member of its own. */
final class GoldenComparison {
  private static final Path FILES = Path.of("src/test/resources/golden");

  private final Placeholders placeholders = new Placeholders();

  /**
   * @param recorded whether the output replaces that of the files
   * @return the blocks whose output differs
   */
  List<String> run(List<Path> files, CommandRunner runner, boolean recorded) throws Exception {
    List<String> differences = new ArrayList<>();
    try (TroupeServer server = TroupeServer.builder().start();
        EtcdClient client = client(server.endpoint())) {
      learnMember(server.endpoint(), client);
      for (Path file : files) {
        placeholders.argument("{rev4}", Long.toString(revision(client) + 1));
        GoldenFile golden = GoldenFile.read(file);
        List<GoldenFile.Block> actual = new ArrayList<>();
        for (GoldenFile.Block block : golden.blocks()) {
          actual.add(block.with(run(runner, server.endpoint(), block)));
        }
        if (recorded) {
          golden.write(actual);
        }
        for (int i = 0; i < actual.size(); i++) {
          if (!actual.get(i).equals(golden.blocks().get(i))) {
            differences.add(
                file.getFileName()
                    + "\nexpected\n"
                    + golden.blocks().get(i).text()
                    + "actual\n"
                    + actual.get(i).text());
          }
        }
      }
    }
    return differences;
  }

  /** All golden files in their order. */
  static List<Path> files() throws IOException {
    try (Stream<Path> files = Files.list(FILES)) {
      return files.sorted().toList();
    }
  }

  private static EtcdClient client(String endpoint) {
    return new EtcdClient(
        new ClientSettings(
            List.of(endpoint),
            new TlsSettings("", "", "", true, false),
            Login.NONE,
            Duration.ofSeconds(10),
            Duration.ofSeconds(10),
            Duration.ofMinutes(1),
            Duration.ofMinutes(1),
            1 << 20,
            1 << 20));
  }

  private static long revision(EtcdClient client) {
    RangeRequest any = RangeRequest.newBuilder().setKey(ByteString.copyFromUtf8("any")).build();
    return client.call(EtcdMethods.RANGE, any).getHeader().getRevision();
  }

  private void learnMember(String endpoint, EtcdClient client) {
    MemberListResponse members =
        client.call(EtcdMethods.MEMBER_LIST, MemberListRequest.getDefaultInstance());
    String address = endpoint.substring("http://".length());
    placeholders.add(endpoint, "<endpoint>");
    placeholders.add(address, "<endpoint>");
    placeholders.add(members.getMembers(0).getPeerURLs(0), "<peer>");
    placeholders.addMember("member", members.getHeader().getMemberId());
    placeholders.addCluster(members.getHeader().getClusterId());
  }

  private List<String> run(CommandRunner runner, String endpoint, GoldenFile.Block block)
      throws Exception {
    List<String> args = new ArrayList<>(List.of("--endpoints=" + endpoint));
    block.words().forEach(word -> args.add(placeholders.resolve(word)));
    String input = block.input().isEmpty() ? "" : String.join("\n", block.input()) + "\n";
    CommandRunner.Result result =
        runner.run(args, ByteString.copyFromUtf8(input), block.stopAfter());
    String out = result.out().toStringUtf8();
    placeholders.learn(block.command(), out);
    boolean message = block.command().endsWith("-w protobuf") && result.exit() == 0;
    List<String> lines = new ArrayList<>(placeholders.out(message ? fields(result.out()) : out));
    if (block.stopAfter() >= 0) {
      // The command may print more until it is stopped.
      lines.subList(Math.min(block.stopAfter(), lines.size()), lines.size()).clear();
    }
    lines.addAll(placeholders.err(result.err()));
    if (result.exit() > 0) {
      lines.add("= " + result.exit());
    }
    return lines;
  }

  /** The fields of a message by their numbers, without the term, which may differ. */
  private static String fields(ByteString bytes) throws InvalidProtocolBufferException {
    return UnknownFieldSet.parseFrom(bytes).toString().replaceAll("(?m)^  4: \\d+$", "  4: <n>");
  }
}
