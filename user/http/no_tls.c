// SPDX-License-Identifier: Apache-2.0
/*
 * libmicrohttpd without TLS. The server is for loopback and never uses TLS, but Debian's library
 * needs gnutls, which would bring ten more libraries into a privileged program, and 3 ms of CPU
 * time to each of its starts. So skein contains the library (Makefile: libmicrohttpd.o), and this
 * function stands for every function of gnutls. Without a TLS connection two of them are called: by
 * the library's constructor, for which 0 is success, and by its destructor.
 */
int http_no_tls(void);

int http_no_tls(void)
{
	return 0;
}
