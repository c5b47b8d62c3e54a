package pgserver

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"syscall"
)

// capDacOverride lets a process pass folders that its user may not enter.
const capDacOverride = 1

// account is the user the server runs as, because PostgreSQL refuses to run as root; nil where we are not root.
type account struct {
	uid, gid uint32
	// closed: a folder above the data lets only its owner pass (a clone below /root, say).
	closed bool
}

func serverAccount(dir string) (*account, error) {
	if os.Geteuid() != 0 {
		return nil, nil
	}
	u, err := user.Lookup("postgres")
	if err != nil {
		if u, err = user.Lookup("nobody"); err != nil {
			return nil, errors.New("PostgreSQL does not run as root and there is neither a user postgres nor nobody: start this as another user")
		}
	}
	uid, err := strconv.ParseUint(u.Uid, 10, 32)
	if err != nil {
		return nil, err
	}
	gid, err := strconv.ParseUint(u.Gid, 10, 32)
	if err != nil {
		return nil, err
	}
	a := &account{uid: uint32(uid), gid: uint32(gid)}
	a.closed, err = closedAbove(dir)
	return a, err
}

// closedAbove says whether some folder above path lets only its owner or group pass.
func closedAbove(path string) (bool, error) {
	for p := filepath.Dir(path); ; p = filepath.Dir(p) {
		info, err := os.Stat(p)
		if err != nil || info.Mode()&0o001 == 0 {
			return true, err
		}
		if p == filepath.Dir(p) {
			return false, nil
		}
	}
}

// passable is the folder itself, or one that every user may enter when we are root and the server's user, who must be able
// to start programs in it, could not.
func passable(folder string) (string, error) {
	if err := os.MkdirAll(folder, 0o755); err != nil || os.Geteuid() != 0 {
		return folder, err
	}
	closed, err := closedAbove(filepath.Join(folder, "program"))
	if err != nil || !closed {
		return folder, err
	}
	const shared = "/var/tmp/frontdesk-tools"
	if err := os.Mkdir(shared, 0o755); err != nil && !errors.Is(err, os.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(shared)
	if err != nil {
		return "", err
	}
	// Anybody may make folders there, so one that is not ours could hold anything.
	if st, ok := info.Sys().(*syscall.Stat_t); !ok || !info.IsDir() || st.Uid != 0 || info.Mode()&0o022 != 0 {
		return "", fmt.Errorf("%s is not a folder of root's own: remove it and start again", shared)
	}
	return shared, nil
}

// own gives a file or an empty folder to the account.
func (a *account) own(path string) error {
	if a == nil {
		return nil
	}
	return os.Lchown(path, int(a.uid), int(a.gid))
}

// owns says whether dir belongs to whom the server will run as.
func (a *account) owns(dir string) (bool, error) {
	info, err := os.Stat(dir)
	if err != nil {
		return false, err
	}
	uid := os.Geteuid()
	if a != nil {
		uid = int(a.uid)
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == uid, nil
}

// take makes cmd run as the account, in a folder that everybody may enter and without PG* variables, which would change what the programs do.
func (a *account) take(cmd *exec.Cmd) {
	cmd.Dir, cmd.Env = "/", []string{"PATH=" + os.Getenv("PATH"), "LC_ALL=C", "TZ=UTC"}
	if a == nil {
		return
	}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: a.uid, Gid: a.gid}}
	if a.closed {
		// One right of root's, so that the data may lie where it was asked for instead of being moved behind the user's back.
		cmd.SysProcAttr.AmbientCaps = []uintptr{capDacOverride}
	}
}
