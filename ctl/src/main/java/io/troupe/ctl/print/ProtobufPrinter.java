package io.troupe.ctl.print;

import com.google.protobuf.Message;
import io.troupe.ctl.cli.Console;
import io.troupe.ctl.cli.CtlException;
import io.troupe.ctl.cli.ExitCode;
import io.troupe.grpc.api.LeaseGrantResponse;
import io.troupe.grpc.api.LeaseKeepAliveResponse;
import io.troupe.grpc.api.LeaseLeasesResponse;
import io.troupe.grpc.api.LeaseRevokeResponse;
import io.troupe.grpc.api.LeaseTimeToLiveResponse;
import io.troupe.grpc.api.WatchResponse;

/** The bytes of the response. Of responses about leases etcdctl prints the header only. */
final class ProtobufPrinter implements Printer {
  private final Console console;

  ProtobufPrinter(Console console) {
    this.console = console;
  }

  @Override
  public void other(Message response) {
    console.bytes(response.toByteString());
  }

  @Override
  public void refuse() {
    throw new CtlException(ExitCode.BAD_FEATURE, "protobuf not supported as output format");
  }

  @Override
  public void watch(WatchResponse r) {
    other(r.toBuilder().clearWatchId().clearCancelReason().clearFragment().build());
  }

  @Override
  public void grant(LeaseGrantResponse r) {
    other(r.getHeader());
  }

  @Override
  public void keepAlive(LeaseKeepAliveResponse r) {
    other(r.getHeader());
  }

  @Override
  public void timeToLive(LeaseTimeToLiveResponse r, boolean keys) {
    other(r.getHeader());
  }

  @Override
  public void leases(LeaseLeasesResponse r) {
    other(r.getHeader());
  }

  @Override
  public void revoke(long id, LeaseRevokeResponse r) {
    throw new CtlException(
        ExitCode.BAD_FEATURE, "marshal unsupported for type *clientv3.LeaseRevokeResponse");
  }
}
