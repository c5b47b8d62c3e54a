// Package engine sends the deliveries that are due. Each webhook has a lane in the process: a notification at commit wakes it, it claims
// deliveries by a lease, sends them, and the results are settled in batches. A sweep finds the retries that come next, and the deliveries
// of a process that died.
//
// It owns no table. It claims and settles by delivery, counts failures by endpoint, and hands what goes to a test receiver to
// receiver. Its operations are those that send at once.
package engine
