// SPDX-License-Identifier: Apache-2.0

// A receiver of profiles in OTLP, which counts their samples and keeps nothing.
package main

import (
	"context"
	"fmt"
	"net"
	"os"

	"go.opentelemetry.io/collector/pdata/pprofile/pprofileotlp"
	"google.golang.org/grpc"
	_ "google.golang.org/grpc/encoding/gzip" // the profiler's messages are compressed
)

type receiver struct {
	pprofileotlp.UnimplementedGRPCServer
}

// Export prints the number of samples of one message.
func (*receiver) Export(_ context.Context, request pprofileotlp.ExportRequest) (
	pprofileotlp.ExportResponse, error) {
	fmt.Println(request.Profiles().SampleCount())
	return pprofileotlp.NewExportResponse(), nil
}

func main() {
	listener, err := net.Listen("tcp", os.Args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(64 << 20))
	pprofileotlp.RegisterGRPCServer(server, &receiver{})
	fmt.Println("listening")
	if err := server.Serve(listener); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
