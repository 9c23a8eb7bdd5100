/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The built-in rules that name containers and services: X("manager", "pattern", "name"). The
 * language is described in docs/services.md, whose table a test compares with this one.
 *
 * Sources: docs of the container engines, and their own paths on Debian 12; kubelet's cgroup
 * drivers; "Desktop Environment Integration" of systemd.io for app-*; systemd-run(1); the page
 * "Control Group v2 plugin" of Slurm.
 */
#ifndef SKEIN_CAPTURE_SERVICE_RULES_H
#define SKEIN_CAPTURE_SERVICE_RULES_H

/* clang-format off */
#define SERVICE_RULES(X) \
	X("Kubernetes, cgroupfs", "pod*/{id}", "{pod}") \
	X("Kubernetes with Docker", "*-pod*.slice/docker-{id}.scope", "{pod}") \
	X("Kubernetes with containerd", "cri-containerd-{id}.scope", "{pod}") \
	X("Kubernetes with containerd", "*:cri-containerd:{id}", "{pod}") \
	X("Kubernetes with CRI-O", "crio-{id}.scope", "{pod}") \
	X("Kubernetes with CRI-O", "crio-{id}", "{pod}") \
	X("Docker", "docker-{id}.scope", "{host}") \
	X("Docker", "docker/{id}", "{host}") \
	X("containerd", "nerdctl-{id}.scope", "{host}") \
	X("containerd", "*:*:{id}", "{host}") \
	X("Podman", "libpod-{id}.scope", "{host}") \
	X("Podman", "libpod-{id}", "{host}") \
	X("Podman, in a unit's group", "libpod-payload-{id}", "{host}") \
	X("LXC", "lxc.payload.{container}", "{host}") \
	X("LXC", "lxc/{container}", "{host}") \
	X("libvirt", "machine-qemu\\x2d{number}\\x2d{name}.scope", "{name}") \
	X("systemd-nspawn", "machine-{container}.scope", "{container}") \
	X("systemd-nspawn", "systemd-nspawn@{container}.service", "{container}") \
	X("Apptainer", "apptainer-{number}.scope", "apptainer") \
	X("Apptainer", "apptainer/{number}", "apptainer") \
	X("Slurm", "job_{number}/step_*", "slurm-job-{number}") \
	X("snap", "snap.{name}.*", "{name}") \
	X("desktop application", "app-*-{name}-{number}.scope", "{name}") \
	X("desktop application", "app-{name}-{number}.scope", "{name}") \
	X("desktop application", "app-*-{name}@*.service", "{name}") \
	X("desktop application", "app-{name}@*.service", "{name}") \
	X("systemd-run", "run-r{hex}.scope", "systemd-run") \
	X("systemd-run", "run-r{hex}.service", "systemd-run") \
	X("systemd-run", "run-u{number}.service", "systemd-run") \
	X("systemd-run", "run-p{number}-i{any}.service", "systemd-run") \
	X("a user's session", "user-{number}.slice/session-*.scope", "user-{number}") \
	X("a user's programs", "user@{number}.service", "user-{number}") \
	X("systemd", "{name}@*.service", "{name}") \
	X("systemd", "{name}.service", "{name}") \
	X("systemd itself", "/init.scope", "init")
/* clang-format on */

#endif
