package io.troupe.ctl.print;

import com.google.protobuf.Message;
import io.troupe.ctl.cli.Console;
import io.troupe.ctl.cli.CtlException;
import io.troupe.ctl.cli.ExitCode;
import io.troupe.grpc.api.MemberListResponse;
import java.util.List;

/** Lists of members and endpoints as tables. */
final class TablePrinter implements Printer {
  private final Console console;

  TablePrinter(Console console) {
    this.console = console;
  }

  @Override
  public void other(Message response) {
    refuse();
  }

  @Override
  public void refuse() {
    throw new CtlException(ExitCode.BAD_FEATURE, "table not supported as output format");
  }

  @Override
  public void memberList(MemberListResponse r) {
    print(Tables.MEMBERS, Tables.members(r));
  }

  @Override
  public void endpointHealth(List<EndpointHealth> endpoints) {
    print(Tables.HEALTH, Tables.health(endpoints));
  }

  @Override
  public void endpointStatus(List<EndpointStatus> endpoints) {
    print(Tables.STATUS, Tables.statuses(endpoints));
  }

  @Override
  public void endpointHash(List<EndpointHash> endpoints) {
    print(Tables.HASH, Tables.hashes(endpoints));
  }

  private void print(List<String> header, List<List<String>> rows) {
    TableText.lines(header, rows).forEach(console::line);
  }
}
