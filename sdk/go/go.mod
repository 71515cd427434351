module sluice.dev/sdk

go 1.21
